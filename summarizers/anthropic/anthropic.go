// Package anthropic asks models by the Anthropic Messages API.
package anthropic

import _ "github.com/anthropics/anthropic-sdk-go"
