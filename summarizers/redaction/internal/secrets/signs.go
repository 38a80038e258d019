package secrets

// Sets of characters that are looked for at many places of a text. Package strings makes a set anew for each call.
var (
	blanks       = setOf(" \t")
	endsSentence = setOf(".:?'")
	endsLogin    = setOf(".,;:?")
	splitsLogin  = setOf(":=(\"'`,")
	marksLogin   = setOf("\"'`()")
	endsChosen   = setOf("0123456789!?.*")
	besideValue  = setOf(" \t*")
	joints       = setOf("-_./,:;=")
	splitsPair   = setOf("/:")
	inSentence   = setOf(" \t\r*()>")
	leetDigits   = setOf("01345789")
	endsPart     = setOf("\n\r\"'`,;)")
	mayEndPart   = setOf(".! ")
	nameJoints   = setOf(" \t.-")
	beforeSign   = setOf(" \t\r\n\f\v'\"")
	behindSign   = setOf("`'\" \t\r\n\f\v=")
	standsIn     = setOf("$<{%([@~/*")
	brackets     = setOf("()<>{}[]\"'`")
	beginsUsual  = setOf("$%{@/")
)

func trimRight(text string, set *bytes) string {
	end := len(text)
	for end > 0 && set.has(text[end-1]) {
		end--
	}
	return text[:end]
}

func trimLeft(text string, set *bytes) string {
	at := 0
	for at < len(text) && set.has(text[at]) {
		at++
	}
	return text[at:]
}

// index returns where the first character of the set stands in a text, or -1.
func (b *bytes) index(text string) int {
	for i := range len(text) {
		if b.has(text[i]) {
			return i
		}
	}
	return -1
}
