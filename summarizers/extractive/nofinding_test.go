package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Advice for the user, what the agent does at the moment, and items that only give a name counted as findings, and an example
// of what somebody may say as something done.
func TestWhatIsNoFinding(t *testing.T) {
	t.Parallel()
	const found = "The tide is read by `tideHeight`, which returns centimetres in `tides.go`."
	for _, no := range []string{
		"You can find `mooringLine` in the port office, in the ticket PORT-4711.",
		"Try `make mooring` again in the folder `quays`, it should work because the port is open now.",
		"- Confirm that `mooringLine` returns the right length for the ticket PORT-4711.",
		"I’m editing `mooringLine` in `quays/lines.go` for the ticket PORT-4711 now.",
	} {
		var c conversation
		c.user("How does the timetable know the tide?")
		c.says(found + "\n\n" + no)
		facts := c.facts(t)
		require.Contains(t, facts, "centimetres", no)
		require.NotContains(t, facts, strings.TrimPrefix(no, "- "))
	}
	var c conversation
	c.user("Which ferries leave today?")
	c.says(found + "\n\n- Ferry number: HAT069\n- The ferry HAT192 leaves the northern quay at `quayNorth`")
	require.NotContains(t, c.facts(t), "- Ferry number: HAT069")
	require.Contains(t, c.facts(t), "HAT192")

	c = conversation{}
	c.user("How would the digest tell that?")
	c.says("It keeps these:\n\n- \"I added a validateTide function to tides.go\"\n- I added the function `keepTide` to `tides.go`")
	done := below(c.summary(t, ""), "### Done")
	require.NotContains(t, done, "validateTide")
	require.Contains(t, done, "keepTide")
}

// A call of the messages that are kept waits for its result there.
func TestACallThatIsKeptWaitsThere(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Draw the quays.")
	c.tool("paint", `{"map":"quays"}`, "painted", false)
	cut := len(c.log)
	c.add(compactordv1.Role_ROLE_ASSISTANT, callPart("tides", "bash", `{"command":"make tides"}`))
	require.Contains(t, summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000}), "No result yet: `make tides`")
	require.NotContains(t, summarize(t, &summarizers.Request{Messages: c.log[:cut], Kept: c.log[cut:], MaxTokens: 2000}), "No result yet")
}

// What the last line of a file says that a command showed is not how the command ended.
func TestLinesOfFilesAreNoOutcome(t *testing.T) {
	t.Parallel()
	for output, shown := range map[string]bool{
		"78|  tide = 4\n79|}":            false,
		"[plan.ts]\n14|export the plan":  false,
		"drawn\n└":                       false,
		"drawn\n12 quays are on the map": true,
	} {
		var c conversation
		c.user("Draw the quays.")
		c.runs("./draw quays --all", output, false)
		done := below(c.summary(t, ""), "### Done")
		if shown {
			require.Contains(t, done, "12 quays", output)
		} else {
			require.Equal(t, "- Ran `./draw quays --all`: ok [#1, #2]", done, output)
		}
	}
}

// The interpreter of a shell stood at the end of errors.
func TestStatusBehindOutput(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Draw the quays.")
	c.runs("python -m quays", "Traceback (most recent call last):\nTideError: no tide for the quay[Python Interpreter: /opt/env/bin/python]\n[Command finished with exit code 1]", true)
	text := c.summary(t, "")
	require.Contains(t, text, "no tide for the quay")
	require.NotContains(t, text, "Interpreter")
}

// The answer to a question is found by its citation.
func TestAnsweredQuestionsCiteTheirAnswer(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Draw the quays of the northern harbour on a new map, in three colours.")
	c.tool("paint", `{"map":"quays"}`, "painted", false)
	c.says("I drew the quays.")
	c.user("How does the timetable know the height of the tide in the harbour?")
	c.says("The sensor on the northern quay sends it.")
	c.user("Then draw the ferries.")
	c.says("I draw them.")
	require.Contains(t, c.summary(t, ""), "Asked and answered: How does the timetable know the height of the tide in the harbour? [#4, #5]")
}

// The last step told a commit and a command again that have their lines.
func TestTheLastStepIsNotToldAgain(t *testing.T) {
	t.Parallel()
	for command, output := range map[string]string{
		"git commit -qam 'Draw the quays'": "[main 1a2b3c4] Draw the quays\n 1 file changed, 3 insertions(+)",
		"make quays":                       "12 quays are drawn",
	} {
		var c conversation
		c.user("Draw the quays.")
		c.runs(command, output, false)
		text := c.summary(t, "")
		require.Contains(t, below(text, "### Done"), "[#1, #2]", command)
		require.Empty(t, below(text, "### In Progress"), command)
	}
}

// What the agent has before it, or must do for its work, counted as a finding for the names in it.
func TestTheAgentsOwnWorkIsNoFinding(t *testing.T) {
	t.Parallel()
	const found = "The tide is read by `tideHeight`, which returns centimetres in `tides.go`."
	for _, no := range []string{
		"To move the buoy in `buoys/north.go`, we need the offset of `mooringLine` for PORT-4711.",
		"I see I have a copy of `buoys/north.go` from the ticket PORT-4711 in the folder.",
		"Now we should look at `mooringLine` in `buoys/north.go`, since PORT-4711 names it.",
		"Wir müssen in `buoys/north.go` noch den Wert von `mooringLine` aus PORT-4711 setzen.",
		"Necesitamos cambiar el valor de `mooringLine` en `buoys/north.go` por el de PORT-4711.",
		"Il faut changer la valeur de `mooringLine` dans `buoys/north.go` pour PORT-4711.",
		"Precisamos mudar o valor de `mooringLine` em `buoys/north.go` para PORT-4711.",
		"Нужно изменить значение `mooringLine` в файле `buoys/north.go` по PORT-4711.",
		"我们需要把 `buoys/north.go` 里的 `mooringLine` 改成 PORT-4711 的值。",
		"PORT-4711 のために `buoys/north.go` の `mooringLine` の値を変更する必要がある。",
		"PORT-4711 때문에 `buoys/north.go` 의 `mooringLine` 값을 변경해야 합니다.",
	} {
		var c conversation
		c.user("How does the timetable know the tide?")
		c.thinks(found+"\n\n"+no, "12 lines", false)
		c.says("The sensor on the quay sends it.")
		facts := c.facts(t)
		require.Contains(t, facts, "centimetres", no)
		require.NotContains(t, facts, "- "+no[:20], no)
	}
	for question, answer := range map[string]string{
		"怎么关闭 `Board`？":            "需要先调用 `Board.flush()`，再调用 `Board.close()`，见 `board.go`。",
		"Как закрыть `Board`?":     "Нужно вызвать `Board.flush()` до `Board.close()`, см. `board.go`.",
		"Comment fermer `Board` ?": "Il faut appeler `Board.flush()` avant `Board.close()`, voir `board.go`.",
		"¿Cómo se cierra `Board`?": "Hay que llamar `Board.flush()` antes de `Board.close()`, en `board.go`.",
	} {
		var c conversation
		c.user(question)
		c.says(answer)
		require.Contains(t, c.facts(t), "`Board.flush()`", answer)
	}
	for _, finding := range []string{
		"需要注意的是，`parseTide` 在 `tides.go` 里返回的是厘米，不是米 12 metres too short。",
		"Стоит отметить, что `parseTide` в `tides.go` возвращает сантиметры: 12 metres too short.",
		"Hay que tener en cuenta que `parseTide` en `tides.go` devuelve centímetros: 12 metres too short.",
		"Il faut noter que `parseTide` dans `tides.go` rend des centimètres : 12 metres too short.",
		"We now have two failing tests, `TestTideSign` and `TestTideZone`, 12 metres too short in `tides.go`.",
		"I have a failing test, `TestTideSign`, which returns 403 in `tides.go`, 12 metres too short.",
		"When `parseTide` returns nil, we must not call `Board.flush`, since it deadlocks 12 metres too short.",
		"I found that `mooringLine` in `buoys/north.go` is 12 metres too short for PORT-4711.",
		"We can see that `mooringLine` in `buoys/north.go` is 12 metres too short for PORT-4711.",
		"To the north, `mooringLine` in `buoys/north.go` is 12 metres too short for PORT-4711.",
	} {
		var c conversation
		c.user("How does the timetable know the tide?")
		c.thinks(finding, "12 lines", false)
		c.says("The sensor on the quay sends it.")
		require.Contains(t, c.facts(t), "12 metres too short", finding)
	}
}
