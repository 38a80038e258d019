// Package dialects lists the dialects that compactord knows. Each is a package of its own. Package dialect defines what
// a dialect is.
package dialects

import (
	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/openaichat"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// All returns the dialects in the order of the contract.
func All() []dialect.Dialect {
	return []dialect.Dialect{openaichat.New(), openairesponses.New(), anthropic.New(), gemini.New()}
}

// For returns the dialect with this value of the contract, and whether there is one.
func For(kind compactordv1.Dialect) (dialect.Dialect, bool) {
	for _, d := range All() {
		if d.Kind() == kind {
			return d, true
		}
	}
	return nil, false
}

// Named returns the dialect with this name in commands and documents, such as `openai_chat`, and whether there is one.
func Named(name string) (dialect.Dialect, bool) {
	for _, d := range All() {
		if d.Name() == name {
			return d, true
		}
	}
	return nil, false
}
