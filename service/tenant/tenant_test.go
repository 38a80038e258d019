package tenant_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/tenant"
)

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "0", "team-1", "a.b_c", strings.Repeat("x", 63)} {
		require.NoError(t, tenant.Check(name), name)
	}
	for _, name := range []string{"", "A", "-a", ".", "_", "a b", "a/b", "ä", "a\x00", "a=b", strings.Repeat("x", 64)} {
		require.Error(t, tenant.Check(name), name)
	}
}

// Work that goes on after its call is still that of its tenant.
func TestTheTenantGoesWithTheWork(t *testing.T) {
	require.Equal(t, tenant.Default, tenant.Of(t.Context()))
	ctx, cancel := context.WithCancel(tenant.With(t.Context(), "a"))
	cancel()
	require.Equal(t, "a", tenant.Of(context.WithoutCancel(ctx)))
	require.Equal(t, "b", tenant.Of(tenant.With(ctx, "b")))
}
