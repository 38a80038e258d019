package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestResultsThatReportAFailure: what a result says about itself counts, whatever the tool's flag says.
func TestResultsThatReportAFailure(t *testing.T) {
	t.Parallel()
	for result, told := range map[string]string{
		`{"success": false, "message": "No berth is free."}`:                           "No berth is free.",
		"{\n  \"ok\" : false\n}":                                                       `{ ⏎ "ok" : false ⏎ }`,
		`{"error": "berth 4 is taken", "trace": ["dock.py:8"]}`:                        "berth 4 is taken",
		`{"id": null, "error": {"code": "E-12", "message": "berth 4 is taken"}}`:       "berth 4 is taken",
		`{"status": 409, "detail": "berth 4 is taken"}`:                                "berth 4 is taken",
		`{"statusCode": "503", "reason": "closed for the night"}`:                      "closed for the night",
		`{"status": "declined", "reason": "the card has expired"}`:                     "the card has expired",
		`{"isError": true, "content": [{"type": "text", "text": "berth 4 is taken"}]}`: "berth 4 is taken",
		"### Error\nTimeoutError: the quay did not answer":                             "TimeoutError: the quay did not answer",
		"**Error**: berth 4 is taken":                                                  "Error**: berth 4 is taken",
		"❌ Error: berth 4 is taken":                                                    "Error: berth 4 is taken",
		"Transfer could not be completed. Try again later.":                            "Transfer could not be completed.",
		"Boat B-99 was not found in this harbour.":                                     "Boat B-99 was not found",
		"Payment of 40 crowns has been declined by the bank":                           "declined by the bank",
		"We are unable to reserve a berth on Sundays.":                                 "unable to reserve",
		"Permission denied for the west quay":                                          "Permission denied",
		"Die Buchung konnte nicht gespeichert werden.":                                 "konnte nicht gespeichert",
		"予約できませんでした。":                                                                  "予約できませんでした",
	} {
		var c conversation
		c.user("Please see to the matter of the boats.")
		at := c.tool("reserve_berth", `{"boat":"B-12"}`, result, false)
		text := c.summary(t, "")
		require.Empty(t, below(text, "### Done"), result)
		require.Contains(t, below(text, "### Blocked"), told, result)
		requireLine(t, text, "`reserve_berth` boat=B-12 failed: ", at)
	}
}

// TestResultsThatReportNoFailure: texts about failures, and fields that look like them, are none.
func TestResultsThatReportNoFailure(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, arguments, result string }{
		{"reserve_berth", `{"boat":"B-12"}`, `{"success": true, "error": null, "errors": [], "status": 201}`},
		{"reserve_berth", `{"boat":"B-12"}`, `{"berth": 409, "error": "none"}`},
		{"reserve_berth", `{"boat":"B-12"}`, "Berth 4 is reserved. The owner could not be reached by phone."},
		{"reserve_berth", `{"boat":"B-12"}`, "Berth 4 is reserved (berth 3 was not available)"},
		{"decline_offer", `{"offer":"O-12"}`, "The offer O-12 was declined."},
		{"reject_claim", `{"claim":"C-12"}`, `Claim C-12 has been rejected: done`},
		{"send_message", `{"text":"I could not find the rope"}`, `Sent: "I could not find the rope"`},
		{"send_message", `{"text":"Hi"}`, `{"id": "m-1", "status": "queued"}`},
	} {
		var c conversation
		c.user("Please see to the matter of the boats.")
		c.tool(tt.tool, tt.arguments, tt.result, false)
		text := c.summary(t, "")
		require.Empty(t, below(text, "### Blocked"), tt.result)
		require.Contains(t, below(text, "### Done"), tt.tool, tt.result)
	}
}

// TestContentAboutFailures: what a look-up returns and what a file holds can be about a failure of something else.
func TestContentAboutFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, arguments, result string }{
		{"get_job", `{"id":"J-12"}`, `{"id": "J-12", "name": "night run", "status": "failed", "queue": "west", "host": "quay-2", "error": "rope broke"}`},
		{"get_order", `{"id":"O-12"}`, "The order O-12 could not be delivered yet."},
		{"read_file", `{"path":"docs/errors.md"}`, "# Error handling\nFailed calls are tried again."},
		{"read_file", `{"path":"data/answer.json"}`, `{"answer": 1, "ok": false}`},
	} {
		var c conversation
		c.user("Please see to the matter of the boats.")
		c.tool(tt.tool, tt.arguments, tt.result, false)
		require.Empty(t, below(c.summary(t, ""), "### Blocked"), tt.result)
	}
}

// TestALookUpCanFail: a heading says that it did.
func TestALookUpCanFail(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Please see to the matter of the boats.")
	at := c.tool("get_boat", `{"id":"B-12"}`, "### Error\nTimeoutError: the quay did not answer", false)
	requireLine(t, below(c.summary(t, ""), "### Blocked"), "the quay did not answer", at)
}
