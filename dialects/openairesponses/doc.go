// Package openairesponses is the dialect of OpenAI's Responses API.
package openairesponses
