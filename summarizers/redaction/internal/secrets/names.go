package secrets

import "strings"

// noun says what a name calls its value.
type noun int

const (
	noNoun noun = iota
	passwordNoun
	phraseNoun
	tokenNoun
	keyNoun
)

// nameLimit is how long a name may be.
const nameLimit = 64

func nameByte(c byte) bool { return wordByte(c) || c == '-' || c == '.' }

// nameAround returns the range of the name that a keyword is in.
func nameAround(text string, start, end int) (from, to int) {
	from, to = start, end
	for from > 0 && start-from < nameLimit && nameByte(text[from-1]) {
		from--
	}
	for to < len(text) && to-end < nameLimit && nameByte(text[to]) {
		to++
	}
	for to > end && (text[to-1] == '.' || text[to-1] == '-') {
		to--
	}
	return from, to
}

// nouns are ends of names, without joints and in lower case, by what they call a value.
var nouns = []struct {
	ends string
	noun noun
}{
	{"passphrase seedphrase passwortsatz mnemonic", phraseNoun},
	{"password passwordnya passwd passwort kennwort passcode pwd userpass dbpass storepass keypass sshpass becomepass requirepass masterauth rpcpassword bindpw wpapsk bindcredential bindcredentials presharedkey keymaterial authtok secretstring wachtwoord senha mdp", passwordNoun},
	{"token secret apikey apisecret sessid sessiontoken securitytoken accesskeysecret credential credentials passwordhash passwdhash pwhash", tokenNoun},
	{"secretkey accesskey privatekey encryptionkey signingkey masterkey sessionkey authkey licensekey aeskey hmackey jwtkey accountkey " +
		"noncesalt authsalt loggedinsalt loggedinkey noncekey keydata privatemac sharedaccesskey subscriptionkey storagekey appkey cookiekey cryptkey sharedkey deploykey recoverykey secretkeybase", keyNoun},
}

// shortNouns are nouns that also end other words, so that they must be words of their own.
var shortNouns = map[string]noun{
	"pass": passwordNoun, "pw": passwordNoun, "psk": passwordNoun, "priv": keyNoun, "privkey": keyNoun, "pword": passwordNoun, "auth": tokenNoun, "sid": tokenNoun, "pat": tokenNoun,
	"phrase": phraseNoun, "sessionid": tokenNoun, "jsessionid": tokenNoun,
}

// longestShort is how long the longest of them is.
const longestShort = len("jsessionid")

// qualifiers are words that make "key" a word for a secret.
var qualifiers = wordMap("api access secret private master encryption signing session license licence auth account shared subscription hmac aes jwt deploy recovery")

// networks are words that make "key" a word for the password of a network.
var networks = wordMap("wifi fi wlan wpa wep hotspot")

// plainName returns the last 48 bytes of a name in lower case, without joints and the digits at its end.
func plainName(name string) string {
	var b [plainBytes]byte
	return string(b[:plainEnd(name, &b)])
}

// plainBytes is how much of a name plainName returns.
const plainBytes = 48

// plainEnd writes what plainName returns, and returns its length.
func plainEnd(name string, b *[plainBytes]byte) int {
	n := 0
	for i := max(len(name)-len(b), 0); i < len(name); i++ {
		if c := name[i]; c != '_' && c != '-' && c != '.' {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			b[n] = c
			n++
		}
	}
	for n > 0 && digitBytes.has(b[n-1]) {
		n--
	}
	return n
}

// nounOf returns what a name calls its value, by its end.
func nounOf(name string) noun {
	var b [plainBytes]byte
	n := plainEnd(name, &b)
	if n == 0 {
		return noNoun
	}
	for _, end := range nounEnds[b[n-1]] {
		if n >= len(end.text) && string(b[n-len(end.text):n]) == end.text {
			return end.noun
		}
	}
	if last := lastWord(name); len(last) <= longestShort {
		return shortNouns[strings.ToLower(last)]
	}
	return noNoun
}

// nounEnd is the end of a name.
type nounEnd struct {
	text string
	noun noun
}

// nounEnds are the ends of names by their last character.
var nounEnds = func() (by [256][]nounEnd) {
	for _, group := range nouns {
		for end := range strings.FieldsSeq(group.ends) {
			last := end[len(end)-1]
			by[last] = append(by[last], nounEnd{end, group.noun})
		}
	}
	return by
}()

// lastWord returns the last word of a name such as db_pass, dbPass or DB-PASS.
func lastWord(name string) string {
	name = trimRight(name, &digitBytes)
	at := len(name)
	for at > 0 && letterByte(name[at-1]) {
		at--
		if c := name[at]; c >= 'A' && c <= 'Z' && at > 0 && name[at-1] >= 'a' && name[at-1] <= 'z' {
			break
		}
	}
	return name[at:]
}

// capitals says whether a name is one of a variable of the environment.
func capitals(name string) bool {
	m := mixtureOf(name)
	return m.upper > 2 && m.lower == 0
}

// wordBefore returns the word before a place, and the place where it begins.
func wordBefore(text string, at int) (word string, start int) {
	start, end := wordEndingAt(text, at)
	return strings.ToLower(text[start:end]), start
}

// beforeBytes is how much of a word before a place is read.
const beforeBytes = 32

// wordEndingAt returns the range of the word before a place.
func wordEndingAt(text string, at int) (start, end int) {
	for at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') {
		at--
	}
	start = at
	for start > 0 && at-start < beforeBytes && letterByte(text[start-1]) {
		start--
	}
	return start, at
}

// smallLetters returns a word that wordEndingAt found in lower case.
func smallLetters(b *[beforeBytes]byte, word string) []byte {
	n := copy(b[:], word)
	for i := range n {
		b[i] |= 0x20
	}
	return b[:n]
}
