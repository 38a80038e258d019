// Package dialects is the table of the providers' message shapes that compactord speaks. What a dialect is, package
// dialect says; each has a package of its own.
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

// For returns the dialect that the contract names so; false where there is none.
func For(kind compactordv1.Dialect) (dialect.Dialect, bool) {
	for _, d := range All() {
		if d.Kind() == kind {
			return d, true
		}
	}
	return nil, false
}

// Named returns the dialect that commands and documents name so, such as `openai_chat`; false where there is none.
func Named(name string) (dialect.Dialect, bool) {
	for _, d := range All() {
		if d.Name() == name {
			return d, true
		}
	}
	return nil, false
}
