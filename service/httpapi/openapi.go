package httpapi

import (
	_ "embed"
	"net/http"
)

// OpenAPIPath is where the server has the OpenAPI document of the contract. The document holds nothing of anybody, so it
// needs no token.
const OpenAPIPath = "/openapi.json"

// openAPI is made by tools/openapi.
//
//go:embed openapi.json
var openAPI []byte

// writeOpenAPI answers with the OpenAPI document.
func writeOpenAPI(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the document is read with GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI)
}
