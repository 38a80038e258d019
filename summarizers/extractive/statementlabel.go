package extractive

import (
	"slices"
	"strings"
	"unicode"
)

// labelled returns the label of a statement such as `KEY: value`, in lower case, and its value. The label has at most
// four words, and a letter.
func labelled(text string) (label, value string) {
	before, after, ok := strings.Cut(text, ": ")
	if !ok || len(before) > 48 || strings.Count(before, " ") > 3 || after == "" {
		return "", text
	}
	worded := false
	for _, r := range before {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' ' && r != '_' && r != '-' && r != '/' {
			return "", text
		}
		worded = worded || unicode.IsLetter(r)
	}
	if !worded {
		// It is the number of a line.
		return "", text
	}
	return strings.ToLower(before), after
}

// Words of labels under which people write rules, and under which they write what the work is about.
var (
	ruleLabels = wordSet(`rule rules constraint constraints policy guardrail requirement important must never always preference preferences
	regel wichtig vorgabe règle contrainte regla restricción importante regra restrição правило важно ограничение 规则 约束 要求 重要 注意 ルール 制約 重要事項 규칙 제약 중요`)
	goalLabels = wordSet(`goal goals task objective mission ziel aufgabe objectif tâche objetivo tarea tarefa цель задача 目标 任务 目標 タスク 목표 과제`)
)

// labelledAs says whether a statement has a label with one of these words.
func labelledAs(text string, words map[string]bool) bool {
	label, _ := labelled(strings.TrimLeft(strings.ReplaceAll(strings.Replace(clip(text, 256), "：", ": ", 1), "**", ""), "*_ "))
	return slices.ContainsFunc(strings.Fields(label), func(w string) bool { return words[w] })
}
