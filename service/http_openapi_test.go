package service_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/compactord/compactord/service/httpapi"
)

// openAPI is what the tests read of the OpenAPI document.
type openAPI struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]struct {
		Post struct {
			OperationID string `json:"operationId"`
			Description string `json:"description"`
		} `json:"post"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]struct {
			Description string                     `json:"description"`
			Enum        []string                   `json:"enum"`
			Properties  map[string]json.RawMessage `json:"properties"`
		} `json:"schemas"`
	} `json:"components"`
}

// get reads what is at a path.
func (w *web) get(t *testing.T, path string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, http.NoBody)
	require.NoError(t, err)
	response, err := w.client.Do(request)
	require.NoError(t, err)
	content, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, content
}

// The OpenAPI document that the daemon serves has all of the contract, with its comments.
func TestOpenAPIHasTheWholeContract(t *testing.T) {
	t.Parallel()
	d := start(t)
	code, text := d.web.get(t, httpapi.OpenAPIPath)
	require.Equal(t, http.StatusOK, code)
	var document openAPI
	require.NoError(t, json.Unmarshal(text, &document))
	require.Equal(t, "3.1.0", document.OpenAPI)

	ids := map[string]bool{}
	rpcs := contractRPCs()
	for _, m := range rpcs {
		rpc := document.Paths["/"+string(m.Parent().FullName())+"/"+string(m.Name())].Post
		require.NotEmpty(t, rpc.Description, m.FullName())
		ids[rpc.OperationID] = true
	}
	require.Len(t, document.Paths, len(rpcs))
	require.Len(t, ids, len(rpcs))

	schemas := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("compactord.v1", func(file protoreflect.FileDescriptor) bool {
		schemas += requireSchemas(t, &document, file)
		return true
	})
	// Those of errors are Connect's.
	for _, name := range []string{"", ".Detail", ".ErrorInfo", ".BadRequest", ".PreconditionFailure", ".RetryInfo", ".Line"} {
		require.NotEmpty(t, document.Components.Schemas["Error"+name].Description, name)
		schemas++
	}
	require.Len(t, document.Components.Schemas, schemas)
}

// declaring is what declares messages and enums: a file, or a message.
type declaring interface {
	Messages() protoreflect.MessageDescriptors
	Enums() protoreflect.EnumDescriptors
}

// requireSchemas requires the schemas of all messages and enums within a file or a message, and returns how many these are.
func requireSchemas(t *testing.T, document *openAPI, in declaring) int {
	t.Helper()
	count := 0
	for i := range in.Enums().Len() {
		enum := in.Enums().Get(i)
		schema := document.Components.Schemas[strings.TrimPrefix(string(enum.FullName()), "compactord.v1.")]
		require.Len(t, schema.Enum, enum.Values().Len(), enum.FullName())
		for n := range enum.Values().Len() {
			require.Contains(t, schema.Description, "`"+string(enum.Values().Get(n).Name())+"`: ", enum.FullName())
		}
		count++
	}
	for i := range in.Messages().Len() {
		message := in.Messages().Get(i)
		if message.IsMapEntry() {
			continue
		}
		schema := document.Components.Schemas[strings.TrimPrefix(string(message.FullName()), "compactord.v1.")]
		require.NotEmpty(t, schema.Description, message.FullName())
		require.Len(t, schema.Properties, message.Fields().Len(), message.FullName())
		for n := range message.Fields().Len() {
			var property struct{ Description string }
			name := message.Fields().Get(n).JSONName()
			require.NoError(t, json.Unmarshal(schema.Properties[name], &property), name)
			require.NotEmpty(t, property.Description, "%s.%s", message.FullName(), name)
		}
		count += 1 + requireSchemas(t, document, message)
	}
	return count
}
