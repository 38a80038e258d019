package inspector_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/access"
)

// A browser lets no page of another origin, or of a name that has been pointed here, call a daemon, but for those that the
// daemon allows; these can speak gRPC-Web, too.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	anything := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Another page</title>"))
	})
	foreign, allowed := httptest.NewServer(anything), httptest.NewServer(anything)
	defer foreign.Close()
	defer allowed.Close()
	page, address := serve(t, "--http-allow-origin", allowed.URL)
	token, err := access.Find("", address, false)
	require.NoError(t, err)
	browse(t, "origins.mjs", map[string]any{
		"daemon": page[:len(page)-len("/inspect/")], "foreign": foreign.URL, "allowed": allowed.URL, "token": token,
	})
}
