// Package gemini asks models by the Gemini API.
package gemini

import _ "google.golang.org/genai"
