package inspector_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/inspector"
)

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	inspector.Add(mux, inspector.Reads)
	recorder := httptest.NewRecorder()
	mux.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return recorder
}

var named = regexp.MustCompile(`(?:src|href)="([a-z]+\.[a-z]+)"|from "\./([a-z]+\.js)"`)

// Every file that the page names is served, with its type, and no other page or script can get at it.
func TestThePageIsWhole(t *testing.T) {
	types := map[string]string{"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
	left, seen := []string{"index.html"}, map[string]bool{}
	for len(left) > 0 {
		name := left[0]
		left = left[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		answer := get(t, inspector.Path+name)
		require.Equal(t, http.StatusOK, answer.Code, name)
		_, ending, _ := strings.Cut(name, ".")
		require.Contains(t, answer.Header().Get("Content-Type"), types[ending], name)
		require.Contains(t, answer.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self';", name)
		require.NotContains(t, answer.Header().Get("Content-Security-Policy"), "unsafe", name)
		for _, match := range named.FindAllStringSubmatch(answer.Body.String(), -1) {
			left = append(left, match[1]+match[2])
		}
	}
	files, err := os.ReadDir("page")
	require.NoError(t, err)
	require.Len(t, seen, len(files), "each file is used")
	require.Equal(t, get(t, inspector.Path).Body.String(), get(t, inspector.Path+"index.html").Body.String())
	require.Equal(t, inspector.Path, get(t, "/").Header().Get("Location"))
	for _, path := range []string{"none.js", "%2e%2e/inspector.go", "page/index.html"} {
		require.Equal(t, http.StatusNotFound, get(t, inspector.Path+path).Code, path)
	}
}

// The page makes elements in one place, from texts, and has no other way to turn a text into something that runs.
func TestThePageParsesNoHTML(t *testing.T) {
	files, err := os.ReadDir("page")
	require.NoError(t, err)
	for _, file := range files {
		content := get(t, inspector.Path+file.Name()).Body.String()
		for _, sink := range []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "setHTML", "eval(", "Function(", "style=", "javascript:",
		} {
			require.NotContains(t, content, sink, file.Name())
		}
		if file.Name() != "dom.js" {
			require.NotContains(t, content, "createElement", file.Name())
		}
	}
}
