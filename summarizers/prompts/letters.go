package prompts

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// parts returns the visible characters into which Unicode decomposes a character.
func parts(r rune) []rune {
	if r < 0x80 {
		return []rune{r}
	}
	return slices.DeleteFunc([]rune(norm.NFKD.String(string(r))), func(r rune) bool { return !shown(r) })
}

// latin returns the small Latin letter that a character is or looks like; 0 if there is none.
func latin(r rune) byte {
	switch {
	case r >= 'a' && r <= 'z':
		return byte(r)
	case r >= 'A' && r <= 'Z':
		return byte(r-'A') + 'a'
	}
	for _, first := range alphabets {
		if r >= first && r < first+26 {
			return byte(r-first) + 'a'
		}
	}
	if letter, ok := lookalikes[r]; ok {
		return letter
	}
	return lookalikes[unicode.ToLower(r)]
}

// alphabets are the first letters of framed alphabets, which Unicode does not decompose into plain letters.
var alphabets = []rune{0x1F150, 0x1F170, 0x1F1E6}

// lookalikes maps characters to the small Latin letters that they look like. Characters that have a small form are
// listed in it.
var lookalikes = func() map[rune]byte {
	all := map[rune]byte{}
	for letter, like := range map[byte]string{
		'a': "аαᴀɑաꭺꓮ", 'b': "ʙьꮟ", 'c': "сᴄϲꮯꓚ", 'd': "ԁᴅժꭰ", 'e': "еεᴇҽꭼꓰℯ", 'f': "ꜰ", 'g': "ɡɢցԍ", 'h': "һʜհ", 'i': "іιıɪɩꭵꓲ",
		'j': "јᴊյ", 'k': "кκᴋ", 'l': "ӏʟⅼꮮꓡ", 'm': "мᴍ", 'n': "пɴոռηꓠ", 'o': "оοᴏօσꓳ", 'p': "рρᴘꮲꓑ", 'q': "ԛզ", 'r': "гʀꭱꓣᴦ",
		's': "ѕꜱտꮪꓢ", 't': "тτᴛꭲꓔ", 'u': "уυᴜսʋꓴ", 'v': "ѵνᴠꮩꓦ", 'w': "ԝᴡա", 'x': "хχ", 'y': "ʏүყ", 'z': "ᴢ",
	} {
		for _, r := range like {
			all[r] = letter
		}
	}
	// These look like two letters. Our tags contain only the one given here.
	all['у'], all['ν'], all['ա'], all['η'] = 'y', 'v', 'w', 'n'
	return all
}()

func isSlash(r rune) bool { return strings.ContainsRune("/\\／∕⁄╱＼", r) }

func isHyphen(r rune) bool { return r == '_' || r == '＿' || unicode.Is(unicode.Pd, r) || r == '−' }
