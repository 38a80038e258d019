package extractive

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// value is a number in what somebody said, or a currency, an address of e-mail or a telephone number.
type value struct {
	// text is the value in a form that compares: a number without signs around it, a currency as its code.
	text string
	// measure says what it measures: two values of one measure can replace each other. It is empty if that is not known.
	measure string
	// rejected says that it is named as what does not hold: "not the 12th".
	rejected bool
}

// same says whether two values may be the same: a day can be the day of a date, an hour that of a time.
func (v value) same(other value) bool {
	if v.text == other.text {
		return v.measure == other.measure || v.measure == "" || other.measure == "" || strings.TrimLeft(v.text, "0123456789") != ""
	}
	return slices.Contains(v.parts(), other.text) || slices.Contains(other.parts(), v.text)
}

// parts returns the day of a date and the hour of a full hour.
func (v value) parts() []string {
	if hour, minutes, ok := strings.Cut(v.text, ":"); ok && minutes == "00" {
		return []string{strings.TrimLeft(hour, "0")}
	}
	for _, sign := range []string{"-", ".", "/"} {
		if list := strings.Split(v.text, sign); len(list) == 3 || sign == "." && len(list) == 2 && len(list[0]) <= 2 && len(list[1]) == 2 {
			day := list[0]
			if len(day) == 4 {
				day = list[2]
			}
			return []string{strings.TrimLeft(day, "0")}
		}
	}
	return nil
}

// The measures of values that are more than a number.
const (
	inTime     = "time"
	inCurrency = "currency"
	inAmount   = "amount"
	inPercent  = "percent"
	byMail     = "mail"
	aWeekday   = "weekday"
	aDay       = "day"
	// aName is a word with a capital within a sentence.
	aName = "name"
)

// currencies are the words and signs of currencies, in lower case.
var currencies = map[string]string{
	"eur": "EUR", "euro": "EUR", "euros": "EUR", "€": "EUR", "евро": "EUR", "欧元": "EUR", "ユーロ": "EUR", "유로": "EUR",
	"usd": "USD", "dollar": "USD", "dollars": "USD", "dólares": "USD", "$": "USD", "доллары": "USD", "долларов": "USD", "долларах": "USD", "美元": "USD", "ドル": "USD", "달러": "USD",
	"gbp": "GBP", "£": "GBP", "pounds": "GBP", "pfund": "GBP", "libras": "GBP", "jpy": "JPY", "yen": "JPY", "yenes": "JPY", "円": "JPY", "chf": "CHF", "franken": "CHF",
	"cny": "CNY", "rmb": "CNY", "元": "CNY", "人民币": "CNY", "krw": "KRW", "원": "KRW", "rub": "RUB", "₽": "RUB", "рублей": "RUB", "рублях": "RUB", "рубли": "RUB",
	"brl": "BRL", "reais": "BRL", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN", "inr": "INR", "cad": "CAD", "aud": "AUD", "mxn": "MXN",
}

// weekdays are the days of the week, from Monday on.
var weekdays = func() map[string]string {
	days := map[string]string{}
	for _, language := range []string{
		"monday tuesday wednesday thursday friday saturday sunday", "montag dienstag mittwoch donnerstag freitag samstag sonntag", "lunes martes miércoles jueves viernes sábado domingo",
		"lundi mardi mercredi jeudi vendredi samedi dimanche", "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
		"понедельник вторник среду четверг пятницу субботу воскресенье", "周一 周二 周三 周四 周五 周六 周日", "星期一 星期二 星期三 星期四 星期五 星期六 星期日",
		"月曜 火曜 水曜 木曜 金曜 土曜 日曜", "월요일 화요일 수요일 목요일 금요일 토요일 일요일",
	} {
		for i, day := range strings.Fields(language) {
			days[day] = time.Weekday((i + 1) % 7).String()
		}
	}
	return days
}()

// hours are words and signs behind the hour of a time.
var hours = wordSet("uhr am pm a.m p.m h hrs o'clock часов час ч 点 點 時 时 시")

// valuesIn returns the values in a text, in order.
func valuesIn(text string) []value {
	words := wordsWithSigns(text)
	all := make([]value, 0, len(words))
	for i, w := range words {
		v := value{text: w.core}
		next := ""
		if i+1 < len(words) && !w.ends {
			next = strings.ToLower(words[i+1].core)
			if next == "de" || next == "of" {
				next = strings.ToLower(words[min(i+2, len(words)-1)].core)
			}
		}
		code := currencies[strings.ToLower(w.core)]
		switch {
		case code != "":
			v = value{text: code, measure: inCurrency}
		case weekdays[strings.ToLower(w.core)] != "":
			v = value{text: weekdays[strings.ToLower(w.core)], measure: aWeekday}
		case isMailAddress(w.core):
			v.measure = byMail
		case !isDigits(w.core[:1]):
			if r, _ := utf8.DecodeRuneInString(w.core); !unicode.IsUpper(r) || i == 0 || words[i-1].ends {
				continue
			}
			v.measure = aName
		case strings.Contains(w.core, ":") || hours[next]:
			v.measure = inTime
		case w.ordinal:
			v.measure = aDay
		default:
			v.measure = measureOf(next)
		}
		v.rejected = rejectedAt(words[:i]) || rejectsBefore(w, words[i+1:])
		all = append(all, v)
	}
	return all
}

// measureOf returns the measure that the word behind a number names: a unit, or a currency.
func measureOf(next string) string {
	switch {
	case next == "%", strings.HasPrefix(next, "percent"), strings.HasPrefix(next, "prozent"):
		return inPercent
	case currencies[next] != "":
		return inAmount
	case months[next], strings.HasPrefix(next, "日"), strings.HasPrefix(next, "号"), strings.HasPrefix(next, "號"), strings.HasPrefix(next, "일"):
		return aDay
	}
	r, size := utf8.DecodeRuneInString(next)
	switch {
	case isCJK(r):
		return next[:size]
	case utf8.RuneCountInString(next) < 3 || linking[next] || negating[next]:
		return ""
	}
	return next
}

// signedWord is a word without the signs around it.
type signedWord struct {
	core string
	// ends says that a sign which ends a clause follows it, closes that it ends the sentence, and ordinal that it is a number
	// that names a day.
	ends, closes, ordinal bool
}

// wordsWithSigns splits a text into words, and numbers from the letters after them: "10th", "13h", "10号".
func wordsWithSigns(text string) []signedWord {
	var all []signedWord
	for field := range strings.FieldsSeq(spacedSigns(text)) {
		core := strings.TrimFunc(field, func(r rune) bool { return unicode.IsPunct(r) && r != '%' })
		if core == "" {
			if len(all) > 0 {
				all[len(all)-1].ends = true
			}
			continue
		}
		end := field[strings.LastIndex(field, core)+len(core):]
		numbers := false
		digits := len(core) - len(strings.TrimLeft(core, "0123456789.,:/-"))
		if digits > 0 && isDigits(core[:1]) && digits < len(core) && !strings.ContainsRune(core, '@') {
			suffix := strings.TrimLeft(core[digits:], "-")
			core = strings.TrimRight(core[:digits], ".,:/-")
			if !endingsOfDays[strings.ToLower(suffix)] {
				all = append(all, signedWord{core: core}, signedWord{core: suffix, ends: strings.Trim(end, ".") != ""})
				continue
			}
			numbers = true
		}
		ends := strings.Trim(end, ".") != "" || end != "" && !isDigits(core)
		all = append(all, signedWord{core: core, ends: ends, ordinal: numbers})
	}
	return all
}

// endingsOfDays are those of numbers that name a day.
var endingsOfDays = wordSet("st nd rd th er º ª го ое")

// months are the names of months, as they stand behind the number of a day.
var months = wordSet(`january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
	januar februar märz mai juni juli oktober dezember okt dez enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene abr ago dic
	janvier février mars avril juin juillet août septembre octobre novembre décembre janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
	января февраля марта апреля мая июня июля августа сентября октября ноября декабря`)

// spacedSigns puts spaces around signs of currencies and ideographs of weekdays, and between ideographs and others.
func spacedSigns(text string) string {
	switch {
	case !isASCII(text):
		text = weekdaysApart.Replace(text)
	case strings.IndexByte(text, '$') < 0:
		return text
	}
	var b strings.Builder
	var before rune
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Sc, r), unicode.Is(unicode.Sc, before), isCJK(r) != isCJK(before) && before != 0:
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// weekdaysApart puts spaces around weekdays in scripts without spaces.
var weekdaysApart = func() *strings.Replacer {
	var pairs []string
	for _, day := range slices.Sorted(maps.Keys(weekdays)) {
		if r, _ := utf8.DecodeRuneInString(day); isCJK(r) {
			pairs = append(pairs, day, " "+day+" ")
		}
	}
	return strings.NewReplacer(pairs...)
}()

// negating are words before a value that does not hold, and linking those that may stand between.
var (
	negating = wordSet("not instead rather nicht statt anstatt anstelle no vez lugar pas lieu plutôt não не вместо non invece 不是 而不是 不要 并非")
	linking  = wordSet(`the of than on at from to by for as in am um den dem der das die vom von auf bis für el la los las del de al a en día le les du des au à que dia do da
		o os às em para на в с к до по il del`)
)

// mostLinks is how many words may stand between such a word and the value.
const mostLinks = 3

// rejectedAt says whether the words before a value reject it.
func rejectedAt(before []signedWord) bool {
	for n, w := range slices.Backward(before) {
		word := strings.ToLower(w.core)
		switch {
		case w.ends:
			return false
		case negating[word] || isCJKNegation(word):
			return true
		case !linking[word] || len(before)-n > mostLinks:
			return false
		}
	}
	return false
}

// isCJKNegation says whether a word in a script without spaces ends in one that negates what follows.
func isCJKNegation(word string) bool {
	return strings.HasSuffix(word, "不是") || strings.HasSuffix(word, "不要") || strings.HasSuffix(word, "并非")
}

// rejectsBefore says whether what follows a value rejects it, as in Japanese and Korean.
func rejectsBefore(v signedWord, after []signedWord) bool {
	if v.ends {
		return false
	}
	var rest string
	switch {
	case len(after) == 1, len(after) > 1 && after[0].ends:
		rest = after[0].core
	case len(after) > 1:
		rest = after[0].core + after[1].core
	}
	for _, negation := range []string{"ではなく", "じゃなく", "でなく", "말고", "이 아니라", "이아니라", "가아니라", "아니라", "대신"} {
		if i := strings.Index(rest, negation); i >= 0 && utf8.RuneCountInString(rest[:i]) <= 2 {
			return true
		}
	}
	return false
}

// isMailAddress says whether a word is an address of e-mail.
func isMailAddress(word string) bool {
	name, host, ok := strings.Cut(word, "@")
	return ok && name != "" && strings.Contains(host, ".") && !strings.ContainsAny(host, "@/")
}
