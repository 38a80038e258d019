package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/service/quota"
)

func TestQuotasOfTheFile(t *testing.T) {
	t.Parallel()
	read := func(content string) (*File, error) { return ReadFile(sample.File(t, "config.yaml", content)) }
	file, err := read(`
quotas:
  each: {requests_per_second: 100, streams: 20}
  tenants:
    acme: {requests_per_second: 0.5, bytes_per_second: 1_000_000, compactions: 2}
    free: {requests_per_second: 0, streams: 0}
    "": {streams: 7}
`)
	require.NoError(t, err)
	require.Empty(t, file.Settings)
	for name, want := range map[string]quota.Limits{
		"other": {RequestsPerSecond: 100, Streams: 20},
		"acme":  {RequestsPerSecond: 0.5, BytesPerSecond: 1_000_000, Streams: 20, Compactions: 2},
		"free":  {},
		"":      {RequestsPerSecond: 100, Streams: 7},
	} {
		require.Equal(t, want, file.Quota(name), name)
	}
	file, err = read("quotas:\n")
	require.NoError(t, err)
	require.Zero(t, file.Quota("x"))

	// Every problem at once.
	_, err = read(`
quotas:
  all: {}
  each: {requests_per_second: -1, streams: many, sessions: 3}
  tenants: {Acme: {}, ok: {bytes_per_second: 1e15}, also: 3}
`)
	for _, says := range []string{
		`quotas has no key "all"; there are each, tenants`,
		"quotas.each.requests_per_second must be from 0, which is no limit, to 1000000000000",
		"quotas.each.streams must be a whole number",
		`quotas.each has no key "sessions"`,
		`quotas.tenants: "Acme" cannot be the name of a tenant`,
		"quotas.tenants.ok.bytes_per_second must be from 0",
		"quotas.tenants.also must be a mapping of requests_per_second",
	} {
		require.ErrorContains(t, err, says)
	}
	for _, content := range []string{"quotas: 3", "quotas: [a]", "quotas: {tenants: 3}"} {
		_, err = read(content)
		require.ErrorContains(t, err, "must be a mapping of", content)
	}
}
