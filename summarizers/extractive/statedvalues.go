package extractive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// valueKind says what a value is. Only a value of the same kind can replace another one.
type valueKind uint8

const (
	noValue valueKind = iota
	moneyValue
	dateValue
	clockValue
	weekdayValue
	versionValue
	codeValue
	pathValue
	addressValue
	zoneValue
	personValue
)

// valuesByKind returns the values among the words of a text by their kind, in a form that compares, and the other words.
func valuesByKind(words []signedWord) (values map[valueKind][]string, rest []string) {
	values = map[valueKind][]string{}
	for i := 0; i < len(words); {
		kind, n := valueOfWords(words[i:])
		if kind == noValue {
			kind, n = valueOfWord(words[i].core), 1
		}
		if kind == noValue {
			rest = append(rest, words[i].core)
			i++
			continue
		}
		parts := make([]string, n)
		for k, w := range words[i : i+n] {
			parts[k] = strings.ToLower(w.core)
		}
		values[kind] = append(values[kind], strings.Join(parts, " "))
		i += n
	}
	return values, rest
}

// valueWords splits a text into words without the signs around them.
func valueWords(text string) []signedWord {
	var words []signedWord
	for field := range strings.FieldsSeq(text) {
		core := strings.TrimFunc(field, func(r rune) bool { return unicode.IsPunct(r) && r != '/' && r != '@' })
		if core == "" {
			continue
		}
		signs := field[strings.LastIndex(field, core)+len(core):]
		words = append(words, signedWord{core: core, ends: signs != "" && !strings.HasSuffix(field, "'s"), closes: strings.ContainsAny(signs, ".!?;")})
	}
	return words
}

// valueOfWords returns the kind of the value of two or three words at the beginning of some words, and how many it has.
func valueOfWords(words []signedWord) (valueKind, int) {
	if len(words) < 2 || words[0].ends {
		return noValue, 0
	}
	first, second := words[0].core, words[1].core
	numeral := isNumeral(first)
	switch lower := strings.ToLower(second); {
	case lower == "time" && beginsWithCapital(first):
		return zoneValue, 2
	case numeral && currencies[lower] != "":
		return moneyValue, 2
	case numeral && isNumeral(second) && !words[1].ends && len(words) > 2 && currencies[strings.ToLower(words[2].core)] != "":
		return moneyValue, 3
	case months[strings.ToLower(first)] && isDigits(second[:1]), isDigits(first[:1]) && months[lower]:
		return dateValue, 2
	case isNameWord(first) && isNameWord(second):
		return personValue, 2
	}
	return noValue, 0
}

// valueOfWord returns the kind of the value that a word is.
func valueOfWord(word string) valueKind {
	lower := strings.ToLower(word)
	digits := strings.ContainsAny(word, "0123456789")
	switch {
	case zones[lower]:
		return zoneValue
	case weekdays[lower] != "":
		return weekdayValue
	case strings.Contains(word, "://"), isMailAddress(word):
		return addressValue
	case strings.Contains(word, "/"):
		return pathValue
	case !digits:
		return noValue
	case strings.ContainsAny(word, "$€£¥"):
		return moneyValue
	case strings.Count(word, "-") == 2 && strings.Trim(word, "0123456789-") == "":
		return dateValue
	case strings.Contains(word, ":") && strings.Trim(word, "0123456789:") == "":
		return clockValue
	case strings.Contains(word, ".") && strings.Trim(lower, "v0123456789.") == "":
		return versionValue
	case isASCII(word) && strings.Trim(lower, "0123456789") != "" && strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == "" && !endingsOfDays[strings.TrimLeft(lower, "0123456789")]:
		return codeValue
	}
	return noValue
}

// numerals are the words of numbers.
var numerals = wordSet(`one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million
	ein eine zwei drei vier fünf sechs sieben acht neun zehn hundert tausend dos tres cuatro cinco seis siete ocho nueve diez cien mil deux trois quatre cinq sept huit neuf dix cent mille`)

// isNumeral says whether a word is a number, in digits or as a word.
func isNumeral(word string) bool {
	return strings.Trim(word, "0123456789.,") == "" || numerals[strings.ToLower(word)]
}

// zones are the names of time zones.
var zones = wordSet("utc gmt cet cest bst eet eest est edt cst cdt mst mdt pst pdt jst kst ist aest aedt msk")

// isNameWord says whether a word can be a part of the name of a person: a capital and small letters, and no common word.
func isNameWord(word string) bool {
	lower := strings.ToLower(word)
	return beginsWithCapital(word) && utf8.RuneCountInString(word) > 2 && strings.IndexFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) }) < 0 &&
		functionWords[lower] == nil && !commonWords[lower] && !aboutChanges[lower] && strings.ToUpper(word) != word
}

func beginsWithCapital(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first)
}
