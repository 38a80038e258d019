package extractive

import "slices"

// germanOrders are imperatives that often come before "nicht" or "kein".
var germanOrders = []string{
	"fass", "fasse", "fasst", "ändere", "änder", "ändert", "lösch", "lösche", "benutze", "benutz", "nutze", "nutz", "verwende", "verwendet", "nimm", "schreib", "schreibe", "mach", "mache", "macht",
	"füge", "commite", "pushe", "push", "rühr", "rühre", "bearbeite", "verändere", "entferne", "installiere", "starte", "setz", "setze", "leg", "lege", "verschiebe", "benenne", "erstelle",
	"deploye", "merge", "veröffentliche", "speichere", "logge", "gib", "ruf", "rufe", "baue", "bau", "brich", "lass", "lasse", "greife", "übersetze", "ersetze", "schick", "schicke", "leite",
}

// germanVerbs are infinitives that often come after "nicht".
var germanVerbs = []string{
	"anfassen", "ändern", "verändern", "löschen", "verwenden", "benutzen", "nutzen", "einbauen", "committen", "commiten", "pushen", "mergen", "deployen", "bearbeiten", "umbenennen", "verschieben",
	"anrühren", "entfernen", "überschreiben", "ausführen", "installieren", "vergessen", "starten", "einchecken", "loggen", "speichern", "umschreiben", "umbauen", "aktualisieren", "veröffentlichen",
	"hardcoden", "übersetzen", "anlegen", "hinzufügen", "verwendet", "geändert", "gelöscht", "angefasst",
}

var german = []group{
	{cueMust, false, nil, slices.Concat([]string{
		"nie", "niemals", "darf nicht", "dürfen nicht", "darf kein", "darf keine", "dürfen keine", "darf nur", "dürfen nur", "darf … nicht", "dürfen … nicht", "darf … nie", "auf keinen fall",
		"unter keinen umständen", "verboten", "zwingend", "unbedingt", "grundsätzlich", "ab sofort", "bitte nicht", "bitte nichts", "bitte kein", "bitte keine", "bitte keinen", "bitte … nicht", "bitte … kein", "bitte … keine", "bitte … keinen",
		"finger weg", "hände weg", "niemand", "stets", "keinesfalls", "ausnahmslos", "soll nicht", "sollen nicht", "sollte nicht", "soll kein", "soll keine", "ich möchte nicht", "ich will nicht", "ich will kein", "ich will keine",
		"ich möchte kein", "ich möchte keine", "achte darauf", "achtet darauf", "ist pflicht", "sind pflicht", "tabu", "nicht erlaubt", "frag mich", "frag vorher",
	}, each("nicht", germanVerbs...))},
	{cueMust, false, []string{"ich", "wir", "noch"}, []string{"muss", "müssen", "musst"}},
	{cueMust, false, []string{"ist", "sind", "war", "schon", "noch", "wie"}, []string{"immer"}},
	{cueMust, true, nil, slices.Concat([]string{"kein *", "keine *", "keinen *", "niemals", "vermeide", "denk daran", "denke daran", "wichtig", "achtung"},
		ordered("nicht"), ordered("nichts"), ordered("nie"), ordered("niemals"), ordered("kein"), ordered("keine"), ordered("keinen"))},
	{cueLasts, false, nil, []string{"nie", "niemals", "immer", "stets", "grundsätzlich", "ab sofort", "jede", "jeder", "jedes", "jeden", "ausnahmslos"}},
	{cuePrefer, false, nil, []string{
		"nur", "ausschließlich", "lieber", "bevorzugt", "bevorzuge", "möglichst", "mindestens", "höchstens", "maximal", "es sei denn", "außer wenn", "statt", "anstatt", "nach möglichkeit", "soll", "sollen",
	}},
	{cuePrefer, true, nil, []string{"verwende", "verwendet", "nutze", "nutzt", "benutze", "behalte", "halte", "lass", "lasse", "antworte", "schreib", "schreibe", "bleib", "bleibe", "ohne"}},
	{cueDecided, false, nil, []string{
		"entschieden", "entscheidung", "entschied", "entscheiden uns", "beschlossen", "wir nehmen", "nehmen wir", "wir setzen auf", "setzen wir auf", "geeinigt", "einigten", "gewählt", "wir bleiben bei", "bleiben wir bei",
		"wahl fiel auf", "wir gehen mit", "festgelegt", "vereinbart", "verworfen",
	}},
	{cueStays, false, nil, []string{"wir verwenden", "verwenden wir", "wir nutzen", "nutzen wir", "wir benutzen", "wir behalten", "wir stellen um", "wir wechseln"}},
	{cueCompares, false, nil, []string{"statt", "anstatt", "anstelle", "stattdessen"}},
	{cueHedges, false, nil, []string{"vielleicht", "könnte", "könnten", "wäre", "wären", "würde", "würden", "schlage vor", "empfehle", "vorschlag", "alternative", "alternativ", "falls", "wenn", "sollte", "sollten", "scheint", "ich denke", "möglicherweise", "noch nicht"}},
	{cueProposes, false, nil, []string{"ich schlage", "ich empfehle", "mein vorschlag", "meine empfehlung"}},
	{cueWhy, false, nil, []string{"weil", "da", "denn", "wegen", "damit", "deshalb", "sonst", "grund"}},
	{cueDone, false, nil, []string{
		"erledigt", "abgeschlossen", "fertig", "behoben", "umgesetzt", "implementiert", "hinzugefügt", "ergänzt", "aktualisiert", "umbenannt", "eingebaut", "ist drin", "läuft jetzt", "laufen jetzt",
		"sind grün", "ist grün", "laufen durch", "läuft durch", "wurde … ~t", "wurden … ~t", "wurde … ~en", "wurden … ~en", "ich habe", "habe ich", "wir haben", "haben wir", "funktioniert jetzt", "funktionieren jetzt", "migriert", "umgestellt",
	}},
	{cueFixed, false, nil, []string{"behoben", "gelöst", "repariert", "schlägt nicht mehr fehl"}},
	{cueNot, false, nil, []string{"nicht", "noch", "kein", "keine", "immer noch"}},
	{cueNext, false, nil, []string{
		"nächster schritt", "nächste schritt", "nächste schritte", "nächsten schritte", "nächsten schritt", "noch zu tun", "noch offen", "noch aus", "fehlt noch", "fehlen noch", "fehlen jetzt noch", "muss noch", "müssen noch", "muss ich noch", "müssen wir noch", "muss … noch", "müssen … noch",
		"bleibt noch", "offen ist noch", "offen sind noch", "es fehlt", "es fehlen", "ausstehend", "übrig",
	}},
	{cueUpcoming, false, nil, []string{"als nächstes", "als nächster schritt", "im nächsten schritt", "anschließend", "danach", "ich mache weiter mit", "weiter geht es mit"}},
	{cueBlocked, false, nil, []string{
		"blockiert", "warte auf", "warten auf", "wartet auf", "warte noch auf", "warten noch auf", "kein zugriff", "keinen zugriff", "kein zugang", "keinen zugang", "komme nicht weiter", "kommen nicht weiter", "komme … nicht weiter", "kommen … nicht weiter", "komme ich nicht weiter", "schlägt weiterhin fehl",
		"schlägt immer noch fehl", "schlagen weiterhin fehl", "schlagen immer noch fehl", "scheitert weiterhin", "kann nicht weitermachen", "geht nicht weiter", "geht es nicht weiter", "fehlen die rechte", "fehlen mir", "fehlt mir", "keine berechtigung", "hänge fest", "hängen fest", "kann … nicht fortfahren", "können … nicht fortfahren",
	}},
	{cueFinding, false, nil, []string{
		"ursache", "das problem", "liegt an", "liegt am", "liegt daran", "liegt in", "stellt sich heraus", "stellte sich heraus", "der fehler", "gefunden", "weil", "lauscht", "liefert", "steht in", "befindet", "grund", "kommt von", "kommt aus", "kommt daher", "herausstellt", "entsteht",
		"version", "port", "hört auf",
	}},
	{cueNarrates, true, nil, []string{"ich werde", "ich schaue", "ich sehe mir", "lass mich", "jetzt schaue", "perfekt", "zuerst", "schauen wir"}},
}

// ordered returns each imperative with a word somewhere after it.
func ordered(then string) []string {
	all := make([]string, 0, len(germanOrders))
	for _, order := range germanOrders {
		all = append(all, order+" … "+then)
	}
	return all
}

// russianOrders are imperatives that often come after "не".
var russianOrders = []string{
	"трогай", "трогайте", "меняй", "меняйте", "изменяй", "изменяйте", "удаляй", "удаляйте", "используй", "используйте", "добавляй", "добавляйте", "пиши", "пишите", "делай", "делайте", "коммить", "коммитьте", "пушь", "пушьте",
	"создавай", "создавайте", "редактируй", "редактируйте", "ломай", "ломайте", "переименовывай", "переименовывайте", "запускай", "запускайте", "ставь", "ставьте", "устанавливай", "устанавливайте", "забудь", "забудьте", "забывай",
	"забывайте", "мерджи", "мержи", "мержите", "деплой", "деплойте", "выкладывай", "выкладывайте", "храни", "храните", "логируй", "логируйте", "отправляй", "отправляйте", "переписывай", "переписывайте", "клади", "кладите", "вноси", "вносите",
	"обновляй", "обновляйте", "оставляй", "оставляйте", "хардкодь", "хардкодьте", "публикуй", "публикуйте", "лезь", "лезьте", "подключай", "подключайте", "тащи", "тащите", "надо", "нужно", "должен", "должна", "должно", "должны", "разрешено",
	"допускается", "стоит", "хочу", "хотим",
}

var russian = []group{
	{cueMust, false, nil, slices.Concat([]string{
		"никогда", "всегда", "нельзя", "запрещено", "запрещён", "запрещена", "запрещается", "обязательно", "обязан", "обязаны", "должен", "должна", "должно", "должны", "ни в коем случае", "ни при каких", "строго", "недопустимо",
		"с этого момента", "отныне", "впредь", "без исключений", "ни за что", "никто не", "убедись", "убедитесь", "следи", "следите", "необходимо",
	}, each("не", russianOrders...))},
	{cueMust, true, nil, []string{"избегай", "избегайте", "никаких", "запомни", "запомните", "важно", "помни", "помните"}},
	{cueLasts, false, nil, []string{"никогда", "всегда", "с этого момента", "отныне", "впредь", "ни в коем случае", "каждый", "каждая", "каждое"}},
	{cuePrefer, false, nil, []string{"только", "лишь", "исключительно", "предпочитаю", "предпочтительно", "лучше", "не более", "не менее", "не больше", "не меньше", "как минимум", "максимум", "если только", "вместо", "по возможности", "желательно"}},
	{cuePrefer, true, nil, []string{"используй", "используйте", "пиши", "пишите", "отвечай", "отвечайте", "оставь", "оставьте", "соблюдай", "соблюдайте", "придерживайся", "придерживайтесь", "сохраняй", "сохраняйте", "без"}},
	{cueDecided, false, nil, []string{
		"решили", "решил", "решила", "решено", "выбрали", "выбрал", "выбрала", "выбрано", "выбран", "остановились на", "остановился на", "договорились", "принято решение", "приняли решение", "решение", "берём", "отказались от", "отказался от",
	}},
	{cueStays, false, nil, []string{"будем использовать", "используем", "буду использовать", "оставляем", "переходим на", "перешли на", "берем", "делаем"}},
	{cueCompares, false, nil, []string{"вместо", "а не"}},
	{cueHedges, false, nil, []string{"может", "возможно", "наверное", "вероятно", "могли", "можно", "предлагаю", "рекомендую", "советую", "вариант", "альтернатива", "если", "стоит", "кажется", "похоже", "бы"}},
	{cueProposes, false, nil, []string{"предлагаю", "рекомендую", "советую"}},
	{cueWhy, false, nil, []string{"потому что", "так как", "поскольку", "из-за", "чтобы", "поэтому", "иначе"}},
	{cueDone, false, nil, []string{
		"добавил", "добавила", "добавили", "добавлен", "добавлена", "добавлено", "исправил", "исправила", "исправили", "исправлен", "исправлена", "исправлено", "реализовал", "реализовала", "реализован", "реализована", "реализовано", "создал", "создала",
		"создан", "создана", "обновил", "обновила", "обновлён", "обновлена", "обновлено", "удалил", "удалила", "удалён", "удалена", "удалено", "перенёс", "перенес", "перенесла", "перенесён", "перенесены", "написал", "написала", "готово", "готов", "готова", "сделано", "сделал", "сделала",
		"завершено", "завершена", "завершил", "завершён", "переименовал", "переименован", "закоммитил", "запушил", "тесты проходят", "тесты зелёные", "все проходят", "починил", "починила", "внедрил", "настроил", "настроена", "настроен", "заменил", "заменила", "вынес", "вынесла", "переписал", "переписала", "переписан", "развернул", "выложил",
		"теперь работает", "перевёл", "перевел", "мигрировал", "прошли",
	}},
	{cueFixed, false, nil, []string{"исправил", "исправила", "исправлено", "исправлена", "исправлен", "починил", "решена", "устранено", "устранил", "больше не падает"}},
	{cueNot, false, nil, []string{"не", "ещё", "еще", "пока", "нет"}},
	{cueNext, false, nil, []string{
		"следующий шаг", "следующие шаги", "осталось", "остаётся", "остается", "остались", "осталась", "остался", "нужно ещё", "надо ещё", "ещё нужно", "ещё надо", "ещё предстоит", "еще нужно", "еще надо", "предстоит", "не сделано", "не готово", "в планах",
	}},
	{cueUpcoming, false, nil, []string{"следующим шагом", "дальше", "далее", "затем", "потом", "теперь перейду", "перехожу к", "продолжу"}},
	{cueBlocked, false, nil, []string{
		"заблокирован", "заблокирована", "заблокировано", "заблокированы", "блокирует", "жду", "ждём", "ждем", "ожидаю", "ожидаем", "нет доступа", "нет прав", "не могу продолжить", "не можем продолжить", "не могу продолжать", "не можем двигаться", "не могу двигаться", "всё ещё падает", "все еще падает", "всё ещё падают",
		"по-прежнему падает", "по-прежнему падают", "застрял", "застряла", "застряли", "упираемся", "упёрся", "упёрлись", "упирается", "стоит из-за", "без доступа",
	}},
	{cueFinding, false, nil, []string{
		"причина", "причиной", "проблема", "оказалось", "оказывается", "из-за", "ошибка", "нашёл", "нашел", "нашла", "потому что", "слушает", "находится", "возвращает", "лежит в", "хранится", "порт", "порту", "версия", "выяснилось", "обнаружил",
		"обнаружила", "связана", "связано",
	}},
	{cueNarrates, true, nil, []string{"сейчас", "давай", "давайте", "посмотрю", "посмотрим", "сначала", "отлично"}},
}
