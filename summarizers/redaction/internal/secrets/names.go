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
	{"password passw passwordnya passwd passwort kennwort passcode pwd userpass dbpass storepass keypass sshpass becomepass requirepass masterauth rpcpassword bindpw wpapsk bindcredential bindcredentials presharedkey keymaterial authtok secretstring wachtwoord senha mdp", passwordNoun},
	{"token secret secretid apikey apisecret sessid sessiontoken securitytoken accesskeysecret credential credentials passwordhash passwdhash pwhash", tokenNoun},
	{"secretkey accesskey privatekey encryptionkey signingkey masterkey sessionkey authkey licensekey aeskey hmackey jwtkey accountkey " +
		"serverkey devkey nwkskey appskey linkkey clientkey restkey webhookkey writekey ingestkey integrationkey unsealkey rootkey backupkey databasekey networkkey noncesalt authsalt loggedinsalt loggedinkey noncekey keydata privatemac sharedaccesskey subscriptionkey storagekey appkey cookiekey cryptkey sharedkey deploykey recoverykey secretkeybase", keyNoun},
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

// networkSettings are in the settings of a network beside its key.
var networkSettings = newWordSet([]string{"psk", "'ssid'", "option ssid", "encryption"})

// networkWords are words for a network beside which a key is told.
var networkWords = newWordSet([]string{"wifi", "wi-fi", "ssid", "wlan", "hotspot"})

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
	if joined := n > 2 && string(b[n-2:n]) == "pw" || n > 4 && string(b[n-4:n]) == "pass"; joined {
		if last := lastWord(name); len(last) > len("pass")+1 && !passWords[strings.ToLower(last)] {
			return passwordNoun
		}
	}
	if last := lastWord(name); len(last) <= longestShort {
		return shortNouns[strings.ToLower(last)]
	}
	return noNoun
}

// passWords are words that end in "pass" and name no password.
var passWords = wordMap("bypass compass encompass trespass surpass overpass underpass firstpass secondpass onepass twopass singlepass multipass lowpass highpass bandpass allpass " +
	"renderpass shadowpass lastpass prepass postpass nextpass computepass subpass fastpass getpass setpass askpass haspass showpass keepass gopass onlypass autopass prefpass depthpass")

// qualifiedNoun returns what a name calls its value that ends in a word for where or how the secret is used:
// DB_PASSWORD_PROD, tokenStaging, password_sha256.
func qualifiedNoun(name string) noun {
	if len(name) < len("pw_qa") {
		return noNoun
	}
	bare := trimRight(name, &digitBytes)
	last := lastWord(bare)
	if len(last) == len(bare) || len(last) > longestUse {
		return noNoun
	}
	var b [beforeBytes]byte
	use := usesOfSecrets[string(smallLetters(&b, last))]
	head := strings.TrimRight(bare[:len(bare)-len(last)], "_-.")
	if use == noUse || head == "" {
		return noNoun
	}
	kind := nounOf(head)
	switch {
	case kind != noNoun:
	case strings.EqualFold(lastWord(head), "key") && lastQualified(head):
		kind = keyNoun
	case use == encodedUse:
		kind = nounOf(trimRight(strings.TrimSuffix(strings.TrimRight(strings.ToLower(head), "0123456789"), "sha"), &joints))
	}
	if kind == noNoun {
		return noNoun
	}
	if use == encodedUse {
		return tokenNoun
	}
	return kind
}

// use is what a word at the end of a name says of the secret before it.
type use int

const (
	noUse use = iota
	// placeUse is where a secret is used, encodedUse how it is written, and otherUse what else is said of a password.
	placeUse
	encodedUse
	otherUse
)

// longestUse is how long the longest of these words is.
const longestUse = len("development")

var usesOfSecrets = func() map[string]use {
	uses := make(map[string]use)
	for word := range strings.FieldsSeq("prod production prd stg stage staging dev development test testing qa uat live sandbox preprod demo ci eu us emea apac default") {
		uses[word] = placeUse
	}
	for word := range strings.FieldsSeq("hash hashed digest sha md hex b base enc encrypted crypt encoded ciphertext") {
		uses[word] = encodedUse
	}
	for word := range strings.FieldsSeq("value val plain plaintext clear cleartext old new current previous primary secondary backup") {
		uses[word] = otherUse
	}
	return uses
}()

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
