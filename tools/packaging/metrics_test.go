package packaging_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// documented are the metrics of the program by the table of docs/operations.md, which the tests of the service compare
// with its registry, and those of the Go runtime and the process that are used here.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	known := map[string]bool{
		"up": true, "process_start_time_seconds": true, "process_resident_memory_bytes": true, "process_cpu_seconds_total": true,
		"go_goroutines": true, "go_memstats_heap_inuse_bytes": true,
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`(?:compactord|grpc_server)_.*?) \\|.*$").FindAllStringSubmatch(read(t, "../../docs/operations.md"), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			known[name[1]] = true
			if strings.Contains(row[0], "histogram") {
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					known[name[1]+suffix] = true
				}
			}
		}
	}
	require.Greater(t, len(known), 50)
	return known
}

// requireKnown requires an expression that parses and names only metrics that exist, of the job of the daemon.
func requireKnown(t *testing.T, known map[string]bool, expr string) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	require.NoError(t, err, expr)
	selectors := 0
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		selectors++
		require.True(t, known[selector.Name], "%s: there is no metric %q", expr, selector.Name)
		require.Contains(t, selector.LabelMatchers, labels.MustNewMatcher(labels.MatchEqual, "job", "compactord"), expr)
		return nil
	})
	require.Positive(t, selectors, expr)
}

func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, problems := rulefmt.ParseFile("../../packaging/prometheus/alerts.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	require.Empty(t, problems)
	var all []rulefmt.Rule
	for _, group := range groups.Groups {
		all = append(all, group.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

func TestAlertsNameWhatExists(t *testing.T) {
	known, seen := documented(t), map[string]bool{}
	for _, alert := range alerts(t) {
		require.False(t, seen[alert.Alert], "%s occurs twice", alert.Alert)
		seen[alert.Alert] = true
		requireKnown(t, known, alert.Expr)
		require.Contains(t, []string{"critical", "warning", "info"}, alert.Labels["severity"], alert.Alert)
		require.NotEmpty(t, alert.Annotations["summary"], alert.Alert)
	}
}

// Each alert leads to its section of the runbook, which has the same severity, and each section is of an alert.
func TestAlertsHaveSections(t *testing.T) {
	const page = "https://github.com/compactord/compactord/blob/main/docs/runbook.md#"
	sections := map[string]string{}
	for section := range strings.SplitSeq(read(t, "../../docs/runbook.md"), "\n### ") {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = text
	}
	all := alerts(t)
	for _, alert := range all {
		text := sections[alert.Alert]
		for _, lead := range []string{"Severity: " + alert.Labels["severity"] + ".", "- **What it means:** ", "- **Look at:** ", "- **Do:** "} {
			require.Contains(t, text, lead, alert.Alert)
		}
		require.Equal(t, page+strings.ToLower(alert.Alert), alert.Annotations["runbook_url"])
	}
	require.Len(t, sections, len(all)+1, "beside the introduction, there are only sections of alerts")
}

// panel is what a panel of a dashboard shows.
type panel struct {
	ID          int
	Type, Title string
	GridPos     struct{ H, W, X, Y int }
	Targets     []struct{ RefID, Expr string }
}

func TestDashboardNamesWhatExists(t *testing.T) {
	var dashboard struct {
		UID        string
		Panels     []panel
		Templating struct{ List []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, "../../packaging/grafana/compactord.json")), &dashboard))
	require.Equal(t, "compactord", dashboard.UID)
	variables := map[string]bool{"__rate_interval": true}
	for _, variable := range dashboard.Templating.List {
		variables[variable.Name] = true
	}
	known, ids, shown, taken := documented(t), map[int]bool{}, 0, map[[2]int]string{}
	for _, p := range dashboard.Panels {
		require.False(t, ids[p.ID], "the id %d occurs twice", p.ID)
		ids[p.ID] = true
		require.NotEmpty(t, p.Title)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.Empty(t, taken[at], "%s is in the place of another panel", p.Title)
				taken[at] = p.Title
			}
		}
		require.Equal(t, p.Type == "row", len(p.Targets) == 0, p.Title)
		for _, target := range p.Targets {
			for _, variable := range regexp.MustCompile(`\$\{?(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				require.True(t, variables[variable[1]], target.Expr)
			}
			requireKnown(t, known, strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
			shown++
		}
	}
	require.Greater(t, shown, 30)
	rotation := dashboard.Panels[slices.IndexFunc(dashboard.Panels, func(p panel) bool { return p.Title == "Rotation of the store's keys" })]
	for _, metric := range []string{"compactord_store_older_keys", "compactord_store_rotation_read_bytes"} {
		require.True(t, slices.ContainsFunc(rotation.Targets, func(target struct{ RefID, Expr string }) bool {
			return strings.HasPrefix(target.Expr, metric+"{")
		}), metric)
	}
}
