package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/retention"
	"github.com/compactord/compactord/storage/anystore"
)

func TestWrongRetentionOfTheFile(t *testing.T) {
	for content, says := range map[string]string{
		"retention: yes\n":                        "retention must hold age, idle, count and tenants",
		"retention: {ages: 3d}\n":                 "field ages not found",
		"retention: {age: 3}\n":                   "retention.age: must be a time such as 90d or 12h",
		"retention: {age: 0d}\n":                  "retention.age: must be",
		"retention: {age: -3d}\n":                 "retention.age: must be",
		"retention: {idle: 36501d}\n":             "retention.idle: must be",
		"retention: {idle: 99999999999d}\n":       "retention.idle: must be",
		"retention: {idle: 59s}\n":                "retention.idle: must be",
		"retention: {count: 0}\n":                 "retention.count: must be at least 1",
		"retention: {count: many}\n":              "retention must hold",
		"retention: {tenants: {A: {age: 3d}}}\n":  "retention.tenants.A: the tenant must have",
		"retention: {tenants: {a: {age: x}}}\n":   "retention.tenants.a.age: must be",
		"retention: {tenants: {a: {tenants: 3}}}": "field tenants not found",
	} {
		programtest.Ran(t, "serve", "--store", anystore.Place(t), "--config", sample.File(t, "config.yaml", content)).
			Ends(t, terminal.ExitUsage).Says(t, says)
	}
	both := sample.File(t, "config.yaml", "retention: {age: x, count: -1}\n")
	programtest.Ran(t, "config", "check", both).Ends(t, terminal.ExitUsage).Says(t, "retention.age: ").Says(t, "retention.count: ")
}

func TestRetentionOfTheFile(t *testing.T) {
	for content, want := range map[string]retention.Policy{
		"": {},
		"retention: {age: 90d, idle: 36h, count: 5, tenants: {a: {}, b: {count: 2}}}\n": {
			Default: retention.Rules{Age: 90 * 24 * time.Hour, Idle: 36 * time.Hour, Count: 5},
			Tenants: map[string]retention.Rules{"a": {}, "b": {Count: 2}},
		},
	} {
		file, err := config.ReadFile(sample.File(t, "config.yaml", content))
		require.NoError(t, err)
		require.Equal(t, want, file.Retention)
	}
}
