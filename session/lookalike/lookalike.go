// Package lookalike says which Latin letters characters look like, and which characters nobody sees.
package lookalike

import (
	"slices"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Parts returns the visible characters into which Unicode decomposes a character.
func Parts(r rune) []rune {
	if r < 0x80 {
		return []rune{r}
	}
	return slices.DeleteFunc([]rune(norm.NFKD.String(string(r))), func(r rune) bool { return !Shown(r) })
}

// Latin returns the small Latin letter that a character is or looks like; 0 if there is none.
func Latin(r rune) byte {
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

// alphabets are the first letters of framed alphabets, which Unicode does not count among letters.
var alphabets = []rune{0x249C, 0x24B6, 0x24D0, 0x1F150, 0x1F170, 0x1F1E6}

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

// Shown says whether a character is visible.
func Shown(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r != 0x7F
	}
	switch r {
	case '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800', '\uFFFD':
		return false
	}
	return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me)
}
