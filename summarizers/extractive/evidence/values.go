package evidence

import (
	"strings"
	"unicode/utf8"
)

// currencyCodes are those of currencies that people name, and currencySigns the signs of currencies.
var (
	currencyCodes = setOf("AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF INR JPY KRW MXN NOK NZD PLN RUB SEK SGD TRY USD ZAR")
	currencySigns = []string{"$", "€", "£", "¥", "₽", "₩", "₹"}
)

// The digits of an amount and of a telephone number.
const (
	fewestAmount             = 3
	fewestPhone, mostPhone   = 8, 15
	longestCountry, mostGaps = 3, 5
)

// valueAt returns where an amount of money or a telephone number is that the run from start to end belongs to. It returns
// false if there is none.
func valueAt(text string, start, end int) (from, to int, ok bool) {
	if text[start] == '+' {
		to = phoneAt(text, start)
		return start, to, to > 0
	}
	if from = currencyBefore(text, start); from == start && end < len(text) && text[end] < utf8.RuneSelf && text[end] != ' ' && text[end] != ',' && text[end] != '$' {
		// Most numbers are of no currency.
		return 0, 0, false
	}
	digits := 0
	for to = start; to < len(text); to++ {
		if isDigit(text[to]) {
			digits++
		} else if text[to] != '.' && text[to] != ',' || to+1 == len(text) || !isDigit(text[to+1]) {
			break
		}
	}
	if to < end && isWordByte(text[to]) && text[to] < utf8.RuneSelf || digits < fewestAmount {
		return 0, 0, false
	}
	if behind := currencyBehind(text, to); from == start {
		return from, behind, behind > to
	}
	return from, to, true
}

// currencyBefore returns where the currency begins that stands right before text[at:], or at if there is none.
func currencyBefore(text string, at int) int {
	for _, sign := range currencySigns {
		if strings.HasSuffix(text[:at], sign) {
			return at - len(sign)
		}
	}
	if at >= 4 && text[at-1] == ' ' && isCurrencyCode(text, at-4) {
		return at - 4
	}
	return at
}

// currencyBehind returns where the currency ends that follows text[:at], with or without a space, or at if there is none.
func currencyBehind(text string, at int) int {
	behind := at
	switch {
	case strings.HasPrefix(text[at:], " "):
		behind++
	case strings.HasPrefix(text[at:], "\u00a0"), strings.HasPrefix(text[at:], "\u202f"):
		_, size := utf8.DecodeRuneInString(text[at:])
		behind += size
	}
	for _, sign := range currencySigns {
		if strings.HasPrefix(text[behind:], sign) {
			return behind + len(sign)
		}
	}
	if behind > at && isCurrencyCode(text, behind) {
		return behind + 3
	}
	return at
}

// isCurrencyCode says whether the code of a currency stands at an offset, and is no part of a longer word.
func isCurrencyCode(text string, at int) bool {
	return at+3 <= len(text) && isUpper(text[at]) && currencyCodes[text[at:at+3]] && (at == 0 || !isWordByte(text[at-1])) && (at+3 == len(text) || !isWordByte(text[at+3]))
}

// phoneAt returns the end of the telephone number that begins with the + at an offset, or 0: a country of up to three
// digits, and groups of digits.
func phoneAt(text string, at int) int {
	if at > 0 && isRun(text[at-1]) {
		return 0
	}
	digits, gaps, country, end := 0, 0, 0, at+1
	for i := at + 1; i < len(text) && gaps <= mostGaps; i++ {
		switch c := text[i]; {
		case isDigit(c):
			digits++
			end = i + 1
			continue
		case strings.IndexByte(" -()./", c) >= 0 && i+1 < len(text) && (isDigit(text[i+1]) || text[i+1] == '(' || text[i+1] == ' ' && c == ')'):
			if gaps == 0 {
				country = digits
			}
			gaps++
			continue
		}
		break
	}
	if digits < fewestPhone || digits > mostPhone || gaps > 0 && (country == 0 || country > longestCountry) || end < len(text) && isWordByte(text[end]) {
		return 0
	}
	return end
}

// unread are the names of addresses of e-mail at which nobody reads.
var unread = setOf("git noreply no-reply donotreply")

// mailIn returns the address of e-mail that a run is, apart from signs behind it.
func mailIn(run string) (mail string, ok bool) {
	mail = strings.TrimRight(run, ".-")
	name, host, ok := strings.Cut(mail, "@")
	dot := strings.LastIndexByte(host, '.')
	if !ok || name == "" || unread[name] || dot < 1 || len(host)-dot < 3 || strings.ContainsAny(host, "@/+~_") || strings.IndexByte(name, '/') >= 0 {
		return "", false
	}
	for i := dot + 1; i < len(host); i++ {
		if !isLetter(host[i]) {
			return "", false
		}
	}
	return mail, true
}

// The lengths of a code with dashes, in bytes, and how many digits it has at least: one that begins in small letters has
// more, since style sheets have names such as gray-900. A longer word is one of prose.
const (
	minDashed, maxDashed             = 6, 40
	fewestInCapitals, fewestInSmalls = 2, 4
	longestSmallPrefix, longestWord  = 4, 8
)

// dashedAt returns the end of the code with dashes that begins at an offset, or the offset: parts of capitals and digits
// such as OF-TK-90311, or a few small letters and a number such as rf-2207.
func dashedAt(run string, start int) int {
	end := start
	for end < len(run) && (isDigit(run[end]) || isUpper(run[end]) || run[end] == '-') {
		if end-start > maxDashed && run[end] != '-' {
			return start
		}
		end++
	}
	if end < len(run) && isWordByte(run[end]) {
		if start > 0 {
			return start
		}
		return smallDashed(run)
	}
	code := strings.TrimRight(run[start:end], "-")
	letters, digits, word := 0, 0, 0
	for i := range len(code) {
		switch {
		case isDigit(code[i]):
			digits++
			word = 0
		case isUpper(code[i]):
			letters++
			word++
		default:
			word = 0
		}
		if word > longestWord {
			return start
		}
	}
	if len(code) < minDashed || len(code) > maxDashed || letters == 0 || digits < fewestInCapitals ||
		!strings.Contains(code, "-") || strings.Contains(code, "--") {
		return start
	}
	return start + len(code)
}

// smallDashed returns the end of a code of small letters and a number, which are the whole run, or 0.
func smallDashed(run string) int {
	letters, digits, ok := strings.Cut(strings.TrimRight(run, "."), "-")
	if !ok || len(letters) > longestSmallPrefix || strings.Trim(letters, "abcdefghijklmnopqrstuvwxyz") != "" ||
		len(digits) < fewestInSmalls || len(digits) > maxNumber || strings.Trim(digits, "0123456789") != "" {
		return 0
	}
	return len(letters) + 1 + len(digits)
}

// minBooking is how many bytes the code of a booking has at least, and fewestOfBooking how many capitals and digits.
const minBooking, fewestOfBooking = 6, 2

// isBooking says whether a word is a code such as 8KLP2R: capitals behind digits.
func isBooking(w string, upper, digits int) bool {
	if len(w) < minBooking || upper+digits < len(w) || upper < fewestOfBooking || digits < fewestOfBooking {
		return false
	}
	return strings.Trim(strings.TrimLeft(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "0123456789") != ""
}
