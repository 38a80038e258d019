package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// TestWhatAToolDoesShowsInItsName: calls with an effect are among what was done, and look-ups are not. Words count, and
// not letters within them.
func TestWhatAToolDoesShowsInItsName(t *testing.T) {
	t.Parallel()
	for name, effect := range map[string]bool{
		"send_emails": true, "update_details": true, "webhook_create": true, "budget_set": true, "assign_task": true, "task_assign": true,
		"sendEmail": true, "mcp__crm__updateContact": true, "crm.contacts.delete": true, "create-invoice": true, "HTTPPut": true, "find_and_replace": true,
		"search_replace_all": true, "get_or_create_tag": true, "sendmessage": true, "createissue": true, "mark_as_read": true, "check_in": true,
		"book_table": true, "order_pizza": true, "transfer_funds": true, "post_message": true, "returnParcel": true, "renew_loan": true, "mcp__shop__book": true,
		"export_report": true, "addresses_remove": true,

		"weather": false, "get_weather": false, "list_targets": false, "searchOrders": false, "order_search": false, "order_status": false,
		"email_list": false, "note_get": false, "mcp__crm__listContacts": false, "get_upload_url": false, "fetch_open_orders": false, "webfetch": false,
		"websearch": false, "getuser": false, "describe_reset_options": false, "call_history": false, "lookup_address": false, "web.search": false,
		"check_balance": false, "logs": false, "query-metrics": false, "git_log": false, "playlist": false,
	} {
		var c conversation
		c.user("Please see to the matter of the boats.")
		c.tool(name, `{"boat":"B-12"}`, "ok", false)
		require.Equal(t, effect, strings.Contains(below(c.summary(t, ""), "### Done"), "Called `"+name+"` boat=B-12"), name)
	}
}

// TestArgumentsSayWhatACallDoes: a statement, a method and an action count more than the name of the tool.
func TestArgumentsSayWhatACallDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tool, arguments string
		effect          bool
	}{
		{"run_sql", `{"query":"SELECT id, name FROM harbour.boats ORDER BY 1"}`, false},
		{"run_sql", `{"query":"-- boats that left\nWITH gone AS (SELECT * FROM boats) SELECT count(*) FROM gone"}`, false},
		{"run_sql", `{"query":"EXPLAIN SELECT 1 FROM boats"}`, false},
		{"query", `{"sql":"CREATE OR REPLACE VIEW harbour.gone AS SELECT * FROM boats"}`, true},
		{"query", `{"sql":"update boats set berth = 4 where id = 12"}`, true},
		{"query_db", `{"query":"WITH old AS (SELECT id FROM boats) DELETE FROM boats USING old WHERE boats.id = old.id"}`, true},
		{"query", `{"query":"{ boats { id berth } }"}`, false},
		{"query", `{"query":"mutation { moveBoat(id: 12, berth: 4) { id } }"}`, true},
		{"web_search", `{"query":"update on the harbour set of boats"}`, false},
		{"web_search", `{"query":"create view of the sea from a boat"}`, false},
		{"http_request", `{"method":"GET","url":"https://harbour.example/boats"}`, false},
		{"http_request", `{"method":"DELETE","url":"https://harbour.example/boats/12"}`, true},
		{"tickets", `{"action":"list","state":"open"}`, false},
		{"tickets", `{"action":"close_ticket","id":"T-12"}`, true},
		{"apply_voucher", `{"code":"SUMMER25"}`, true},
	} {
		var c conversation
		c.user("Please see to the matter of the boats.")
		c.tool(tt.tool, tt.arguments, "fine", false)
		done := below(c.summary(t, ""), "### Done")
		require.Equal(t, tt.effect, done != "", "%s %s", tt.tool, tt.arguments)
		require.NotContains(t, done, "Ran ", tt.arguments)
	}
}

// TestProgramsAsTools: a tool that is named after a program has a command line, which says what it did.
func TestProgramsAsTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, arguments, done string }{
		{"kubectl", `{"args":"get pods -n harbour"}`, ""},
		{"kubectl", `{"args":"-n harbour logs deploy/ferry --tail=20"}`, ""},
		{"kubectl", `{"args":"rollout status deploy/ferry"}`, ""},
		{"kubectl", `{"args":"exec -n harbour ferry-0 -- psql -c \"select count(*) from boats\""}`, ""},
		{"kubectl", `{"args":"exec ferry-0 -- sh -c 'ls /srv | head'"}`, ""},
		{"kubectl", `{"args":"rollout undo deploy/ferry"}`, "Ran `kubectl rollout undo deploy/ferry`"},
		{"kubectl", `{"args":["annotate","deploy/ferry","hold=yes"]}`, "Ran `kubectl annotate deploy/ferry hold=yes`"},
		{"kubectl", `{"args":"delete pod top"}`, "Ran `kubectl delete pod top`"},
		{"kubectl", `{"args":"exec ferry-0 -- psql -c \"delete from boats\""}`, "Ran `kubectl exec ferry-0 -- psql -c"},
		{"kubectl", `{"args":"exec ferry-0 -- sh -c 'ls /srv | xargs rm'"}`, "Ran `kubectl exec ferry-0"},
		{"terraform", `{"command":"plan -out p"}`, ""},
		{"terraform", `{"command":"apply -auto-approve"}`, "Ran `terraform apply -auto-approve`"},
		{"gh", `{"args":"pr view 12"}`, ""},
		{"gh", `{"args":"api repos/o/r/issues -f title=Leak"}`, "Ran `gh api repos/o/r/issues -f title=Leak`"},
		{"git", `{"args":"status"}`, ""},
		{"run_git", `{"args":"commit -m Leak"}`, "Ran `git commit -m Leak`"},
		{"aws", `{"command":"aws ec2 describe-instances"}`, ""},
		{"aws", `{"command":"ec2 terminate-instances --instance-ids i-12"}`, "Ran `aws ec2 terminate-instances"},
		{"bash", `{"command":"ssh quay 'uptime; df -h'"}`, "Ran `ssh quay"},
		{"bash", `{"command":"ssh quay 'df -h'"}`, ""},
		{"bash", `{"command":"docker exec db psql -c 'select 1 from boats'"}`, ""},
		{"bash", `{"command":"psql harbour -c 'select id from boats'"}`, ""},
		{"bash", `{"command":"psql -l"}`, ""},
		{"bash", `{"command":"psql -c '\\d boats'"}`, ""},
		{"bash", `{"command":"sqlite3 harbour.db .schema"}`, ""},
		{"bash", `{"command":"psql harbour -c 'update boats set berth = 4'"}`, "Ran `psql harbour -c 'update boats set berth = 4'`"},
		{"bash", `{"command":"psql -f berths.sql"}`, "Ran `psql -f berths.sql`"},
		{"bash", `{"command":"psql -c 'select 1 from boats' -c 'delete from boats'"}`, "Ran `psql -c 'select 1 from boats' -c 'delete from boats'`"},
		{"bash", `{"command":"psql -c 'select 1 from boats; delete from boats'"}`, "Ran `psql -c 'select 1 from boats; delete from boats'`"},
		{"bash", `{"command":"psql -c 'select 1 from boats' -f berths.sql"}`, "Ran `psql -c 'select 1 from boats' -f berths.sql`"},
		{"bash", `{"command":"psql -c 'begin; update boats set berth = 4; commit'"}`, "Ran `psql -c 'begin; update boats"},
		{"bash", `{"command":"psql harbour"}`, "Ran `psql harbour`"},
		{"bash", `{"command":"helm upgrade ferry ./chart"}`, "Ran `helm upgrade ferry ./chart`"},
		{"bash", `{"command":"helm list"}`, ""},
	} {
		var c conversation
		c.user("Please see to the matter of the boats.")
		c.tool(tt.tool, tt.arguments, "fine", false)
		done := below(c.summary(t, ""), "### Done")
		if tt.done == "" {
			require.Empty(t, done, "%s %s", tt.tool, tt.arguments)
		}
		require.Contains(t, done, tt.done, "%s %s", tt.tool, tt.arguments)
	}
}

// TestOperationsAreMilestones: what was changed in operation stays where little can, and more of it is shown.
func TestOperationsAreMilestones(t *testing.T) {
	t.Parallel()
	// None of the words says that it finishes work: the program does.
	long := "annotate statefulset/ferry -n harbour-west hold=INC-12 owner=night-shift until=2031-03-04T06:00Z --context quay-west-2"
	var c conversation
	c.user("Please see to the matter of the boats.")
	at := c.tool("kubectl", `{"args":"`+long+`"}`, "statefulset.apps/ferry annotated", false)
	for range 12 {
		c.runs("prepare --all", "ok", false)
		c.runs("collect berths "+strings.Repeat("x", c.calls), "ok", false)
	}
	little := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 200})
	require.NotContains(t, little, "Ran `collect berths xx`:", "older commands are left out")
	requireLine(t, little, "Ran `kubectl annotate statefulset/ferry", at)
	requireLine(t, c.summary(t, ""), "Ran `kubectl "+long+"`: «statefulset.apps/ferry annotated", at)
}
