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
  each: {requests_per_second: 100, streams: 20, sessions: 5, log_bytes: 700}
  tenants:
    acme: {requests_per_second: 0.5, bytes_per_second: 1_000_000, compactions: 2}
    free: {requests_per_second: 0, streams: 0, sessions: 0}
    kept: {sessions: 10}
    "": {streams: 7, log_bytes: 1_000}
`)
	require.NoError(t, err)
	require.Empty(t, file.Settings)
	const each = "quotas.each."
	for name, want := range map[string]quota.Limits{
		"other": {RequestsPerSecond: 100, Streams: 20, Sessions: 5, SessionsKey: each + "sessions", LogBytes: 700, LogBytesKey: each + "log_bytes"},
		"acme": {
			RequestsPerSecond: 0.5, BytesPerSecond: 1_000_000, Streams: 20, Compactions: 2,
			Sessions: 5, SessionsKey: each + "sessions", LogBytes: 700, LogBytesKey: each + "log_bytes",
		},
		"free": {SessionsKey: "quotas.tenants.free.sessions", LogBytes: 700, LogBytesKey: each + "log_bytes"},
		"kept": {
			RequestsPerSecond: 100, Streams: 20, Sessions: 10, SessionsKey: "quotas.tenants.kept.sessions",
			LogBytes: 700, LogBytesKey: each + "log_bytes",
		},
		"": {
			RequestsPerSecond: 100, Streams: 7, Sessions: 5, SessionsKey: each + "sessions",
			LogBytes: 1000, LogBytesKey: `quotas.tenants."".log_bytes`,
		},
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
  each: {requests_per_second: -1, streams: many, documents: 3, log_bytes: -1}
  tenants: {Acme: {}, ok: {bytes_per_second: 1e15}, also: 3}
`)
	for _, says := range []string{
		`quotas has no key "all"; there are each, tenants`,
		"quotas.each.requests_per_second must be from 0, which is no limit, to 1000000000000",
		"quotas.each.streams must be a whole number",
		`quotas.each has no key "documents"`,
		"quotas.each.log_bytes must be from 0",
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
