// Package clients holds what the clients of all languages share, for those that are written in Go.
package clients

import _ "embed"

// Tools are the definitions of the tools for an agent's model: a JSON array of objects with name, description and
// parameters, which is a JSON Schema.
//
//go:embed tools.json
var Tools []byte

// Texts are the texts for an agent's model by name: a JSON object. A text has placeholders such as {line}.
//
//go:embed texts.json
var Texts []byte
