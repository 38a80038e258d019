package extractive

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// offering are words that stand before the number of an option, and joining are words between two of them.
var (
	offering = wordSet(`option options choice choices number no nr variant approach alternative item point opción opcion número numero alternativa opção
		opcao variante möglichkeit moeglichkeit nummer choix numéro вариант номер пункт 方案 选项 选 第 案 オプション 選択肢 옵션 선택`)
	joining = wordSet(`and or plus then too also und oder auch et ou aussi y o e también também и или тоже 和 跟 と & +`)
)

// fewWords is how many words an answer has at most that only names an option.
const fewWords = 5

// token is a word of an answer, without punctuation around it. ends says that punctuation follows it.
type token struct {
	text string
	ends bool
	// numbers says that it is followed like the number of a list item.
	numbers bool
}

// tokensOf splits an answer into words. Digits in scripts without spaces are words of their own.
func tokensOf(said string) []token {
	var list []token
	for i, field := range strings.Fields(spaced(said)) {
		text := strings.TrimFunc(field, func(r rune) bool { return unicode.IsPunct(r) && r != '&' && r != '-' && r != '/' || r == '`' })
		if text == "" {
			if len(list) > 0 {
				list[len(list)-1].ends = true
			}
			continue
		}
		after := field[strings.LastIndex(field, text)+len(text):]
		list = append(list, token{text: text, ends: after != "", numbers: i == 0 && (after == "." || after == ")")})
	}
	return list
}

// spaced puts spaces between digits and ideographs, and between numbers in a list without spaces.
func spaced(text string) string {
	text = strings.NewReplacer(",", ", ", "、", "、 ").Replace(text)
	var b strings.Builder
	var before rune
	for _, r := range text {
		if before != 0 && (isCJK(before) && unicode.IsDigit(r) || unicode.IsDigit(before) && isCJK(r) && unicode.IsLetter(r)) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// byKey returns the options whose numbers or letters an answer names.
func byKey(said string, offer []option) []option {
	tokens := tokensOf(said)
	var chosen []option
	sure := len(tokens) <= fewWords
	for i, t := range tokens {
		at := slices.IndexFunc(offer, func(o option) bool { return o.key == t.text })
		if at < 0 || len(chosen) > 0 && slices.Contains(chosen, offer[at]) {
			continue
		}
		last := i == len(tokens)-1
		named := i > 0 && (offering[tokens[i-1].text] || hasOfferingEnd(tokens[i-1].text))
		switch {
		case t.numbers && !last:
			// The user writes a list.
			return nil
		case isLetter(t.text[0]) && !named && (i > 0 || !last && !t.ends):
			continue
		case !named && !last && !t.ends && !joining[tokens[i+1].text] && !isNod(tokens[i+1].text):
			continue
		}
		sure = sure || i == 0 || named || len(chosen) > 0
		chosen = append(chosen, offer[at])
	}
	if !sure {
		return nil
	}
	return chosen
}

// hasOfferingEnd says whether a word in a script without spaces ends in a word for an option.
func hasOfferingEnd(word string) bool {
	for w := range offering {
		if r, _ := utf8.DecodeRuneInString(w); isCJK(r) && strings.HasSuffix(word, w) {
			return true
		}
	}
	return false
}

// ordinals are the beginnings of words that name an option by its place, counted from 1, or from the end if negative.
var ordinals = []struct {
	place int
	words []string
}{
	{1, []string{"first", "erste", "primer", "premi", "перв", "第一", "一つ目", "最初", "첫"}},
	{2, []string{"second", "zweite", "segund", "deuxi", "втор", "第二", "二つ目", "두"}},
	{3, []string{"third", "dritte", "tercer", "terceir", "troisi", "трет", "第三", "三つ目", "세"}},
	{-1, []string{"last", "latter", "letzte", "últim", "ultim", "derni", "последн", "最后", "最後", "마지막"}},
}

// whole are words for all options, and pairs for two.
var (
	pairs = []string{"both", "beide", "ambos", "ambas", "les deux", "os dois", "as duas", "оба", "обе", "两个都", "两者", "両方", "둘 다"}
	whole = []string{"all", "alle", "todos", "todas", "tous", "toutes", "все", "全部", "都要", "すべて", "모두"}
)

// byOrder returns the options that an answer of a few words names by their order, or as a whole.
func byOrder(said string, offer []option) []option {
	tokens := tokensOf(said)
	if len(tokens) == 0 || len(tokens) > fewWords || units(said) > 40 {
		return nil
	}
	for _, word := range pairs {
		if len(offer) == fewestOptions && strings.HasPrefix(said, word) {
			return offer
		}
	}
	if len(tokens) <= 3 && slices.Contains(whole, tokens[0].text) {
		return offer
	}
	for i, t := range tokens {
		for _, o := range ordinals {
			if !slices.ContainsFunc(o.words, func(w string) bool { return strings.HasPrefix(t.text, w) }) || !standsForAnOption(tokens, i) {
				continue
			}
			switch {
			case o.place < 0:
				return offer[len(offer)-1:]
			case o.place <= len(offer):
				return offer[o.place-1 : o.place]
			}
		}
	}
	return nil
}

// standsForAnOption says whether an ordinal is not only an adverb, as in "the tests first": it begins the answer or follows
// an article, and ends it or is followed by a word for an option.
func standsForAnOption(tokens []token, i int) bool {
	opens := i == 0 || articles[tokens[i-1].text] || isNod(tokens[i-1].text)
	closes := i == len(tokens)-1 || tokens[i].ends || offering[tokens[i+1].text] || isNod(tokens[i+1].text)
	first, _ := utf8.DecodeRuneInString(tokens[i].text)
	return isCJK(first) || opens && closes
}

// articles stand before an ordinal.
var articles = wordSet("the die das den der el la lo le o a")

// thatIs comes before the options that a short answer names.
const thatIs = " (that is: “"

// maxChosen is how many units of an option are shown beside an answer, maxSeveral of several together, and leastChosen of
// each of them in any case.
const (
	maxChosen   = 160
	maxSeveral  = 240
	leastChosen = 50
)

// inWords returns an answer with the options that it names.
func inWords(said string, chosen []option) string {
	texts, room := make([]string, 0, len(chosen)), maxChosen
	if len(chosen) > 1 {
		room = max(maxSeveral/len(chosen), leastChosen)
	}
	for _, o := range chosen {
		texts = append(texts, shorten(firstSentence(bare(clip(o.text, 2048))), room))
	}
	return said + thatIs + strings.Join(texts, "”, “") + "”)"
}

// firstSentence returns the first sentence of a paragraph.
func firstSentence(text string) (first string) {
	eachSentence(text, func(sentence string, _ bool) {
		if first == "" {
			first = sentence
		}
	})
	return first
}

// ownWords returns what the user said, without the question or the options beside it.
func ownWords(text string) string {
	if !strings.HasSuffix(text, "”)") {
		return text
	}
	if at := max(strings.LastIndex(text, answering), strings.LastIndex(text, thatIs)); at >= 0 {
		return text[:at]
	}
	return text
}
