package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What the user called off stayed among the to-dos and the next steps, in whatever language.
func TestWhatTheUserCallsOffIsNotOpen(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ todo, other, said string }{
		{"Write the release notes", "Update the schedule", "Never mind the release notes, I wrote them in the train."},
		{"Add a chart of the tides", "Update the schedule", "Ok, drop the chart of the tides."},
		{"Add a chart of the tides", "Update the schedule", "Looks good. We no longer need the tides chart."},
		{"Inhaltsverzeichnis schreiben", "Fahrplan prüfen", "Lass das Inhaltsverzeichnis weg."},
		{"Inhaltsverzeichnis schreiben", "Fahrplan prüfen", "Das Inhaltsverzeichnis brauchen wir nicht mehr."},
		{"Traducir el manual de cocina", "Revisar los horarios", "Olvida el manual de cocina."},
		{"Traduire le manuel de cuisine", "Vérifier les horaires", "Laisse tomber le manuel de cuisine."},
		{"Traduzir o manual da cozinha", "Rever os horários", "Esquece o manual da cozinha."},
		{"Перевести руководство пользователя", "Проверить расписание", "Забудь про руководство пользователя."},
		{"编写发布说明", "检查时刻表", "发布说明不用做了。"},
		{"编写发布说明", "检查时刻表", "取消发布说明"},
		{"リリースノートを書く", "時刻表を確認する", "リリースノートは不要です。"},
		{"릴리스노트 작성", "시간표 확인", "릴리스노트는 필요 없어."},
	} {
		var c conversation
		c.user("Port the timetable of the ferries to files.")
		c.tool("TodoWrite", `{"todos":[{"content":"`+x.todo+`","status":"pending"},{"content":"`+x.other+`","status":"pending"}]}`, "ok", false)
		c.says("The files are there.")
		c.user(x.said)
		c.says("Noted.")
		open := below(c.summary(t, ""), "## Next Steps")
		require.NotContains(t, open, x.todo, x.said)
		require.Contains(t, open, x.other, x.said)
	}
}

// So did what the agent said that it would do next, when the user called that off.
func TestTheNextStepThatTheUserCallsOffIsNotOpen(t *testing.T) {
	t.Parallel()
	for said, open := range map[string]bool{
		"Drop that, the tide is fine.": false, "Skip the second harbour, nobody goes there.": false, "Good, the tide is fine.": true,
	} {
		var c conversation
		c.user("Port the timetable of the ferries to files.")
		c.says("The files are there. Next step: convert the tables of the second harbour.")
		c.user(said)
		c.tool("read", `{"path":"ferries.go"}`, "package ferries", false)
		require.Equal(t, open, below(c.summary(t, ""), "## Next Steps") != "", said)
	}
}

// What is only like a call-off leaves the to-dos as they are: a question, another thing, or the to-do itself.
func TestWhatIsNotCalledOffStaysOpen(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Should we drop the old table?", "Drop the table, the old one.", "Don't forget the old table.", "Never mind the schedule of the trains.", "Forget it.", "Skip the tests of the table for now.",
	} {
		var c conversation
		c.user("Port the timetable of the ferries to files.")
		c.tool("TodoWrite", `{"todos":[{"content":"Drop the old table","status":"pending"}]}`, "ok", false)
		c.says("The files are there.")
		c.user(said)
		c.says("Noted.")
		require.Contains(t, below(c.summary(t, ""), "## Next Steps"), "Drop the old table", said)
	}
}
