package clients_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
)

// uncovered are the RPCs of both services that the cases do not call.
var uncovered = []protoreflect.Name{"CancelCompaction", "GetCompaction", "ListStrategies"}

// The cases have the same answers over HTTP in each protocol. What is sent and received as JSON conforms to the OpenAPI
// document of the daemon.
func TestCasesOverHTTP(t *testing.T) {
	if *update {
		t.Skip("the answers are written by the cases over gRPC")
	}
	protocols := httpapitest.Protocols
	if testing.Short() {
		protocols = []httpapitest.Protocol{httpapitest.JSON, httpapitest.GRPCWeb}
	}
	for _, protocol := range protocols {
		t.Run(string(protocol), func(t *testing.T) { casesOverHTTP(t, protocol) })
	}
}

func casesOverHTTP(t *testing.T, protocol httpapitest.Protocol) {
	t.Helper()
	d := daemontest.Start(t, daemontest.Options{})
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	defer transport.CloseIdleConnections()
	base := "http://" + d.HTTPAddress
	if protocol != httpapitest.JSON {
		d.Use(httpapitest.New(base, &http.Client{Transport: transport}, protocol))
		compareCases(t, d)
		return
	}
	conforming, err := httpapitest.NewConforming(t.Context(), base, transport)
	require.NoError(t, err)
	d.Use(httpapitest.New(base, &http.Client{Transport: conforming}, protocol))
	compareCases(t, d)
	require.Empty(t, conforming.Problems())

	called := conforming.Called()
	for _, file := range []protoreflect.FileDescriptor{
		compactordv1.File_compactord_v1_session_service_proto, compactordv1.File_compactord_v1_compaction_service_proto,
	} {
		service := file.Services().Get(0)
		for i := range service.Methods().Len() {
			name := service.Methods().Get(i).Name()
			path := "/" + string(service.FullName()) + "/" + string(name)
			require.Equal(t, !slices.Contains(uncovered, name), called[path], name)
		}
	}
}
