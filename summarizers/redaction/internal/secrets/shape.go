package secrets

import (
	"strings"
	"sync"
)

// place says what else than a value could stand where one may be.
type place int

const (
	// onLine is up to the end of a line: a value, or an expression of a program.
	onLine place = iota
	// inQuotes is a text in quotes: a value or a label.
	inQuotes
	// given is where nothing but a value stands: behind a flag, in a variable of the environment, in an address.
	given
)

// fits says whether a text may be a password at a place. People choose words, so all is one that is not known to be
// something else.
func fits(text string, at place) bool {
	m := mixtureOf(text)
	switch {
	case len(text) < 4 || len(text) > valueBytes || uuidLike(text) && at != given || strings.Contains(text, "://") || standIn(text) || label(text):
		return false
	case m.blanks > 0:
		return at >= inQuotes && saidPhrase(text, at)
	case m.letters()+m.others == 0:
		return m.digits >= 6 && m.joints+m.brackets == 0 || at == given && m.digits == len(text)
	case m.brackets > 0 && brackets.index(strings.ReplaceAll(text, "''", "")) >= 0 || strings.Count(text, "/") > 1 && (at == onLine || !slashedWords(text, m)) || strings.HasSuffix(text, ":"):
		return false
	case m.others > 0 && !alphabetic(text), m.digits == 0 && strings.HasSuffix(text, "="):
		return false
	}
	plain := strings.ToLower(trimRight(text, &endsChosen))
	if len(plain) < 3 {
		return m.letters() >= 2 && m.digits >= 2 && len(text) >= 6
	}
	if at >= inQuotes && joinedPhrase(plain) {
		return true
	}
	if loginWords[strings.ToLower(text)] || m.digits == m.endDigits && m.digits < 4 && sizedTypes[firstPart(plain)] || idleWords[plain] || idleWords[firstPart(plain)] && m.digits == 0 && (at != given || !ownWord(plain)) {
		return false
	}
	// What becomes of a password is said with a capital, or without quotes.
	inSmall := at == inQuotes && m.lower == len(text) && strings.HasSuffix(text, "ing")
	return at == given || (at == inQuotes || !identifier(text, m)) && (inSmall || !described(plain, m)) && len(text) >= 6
}

// slashedWords says whether a text with slashes is no path: words with capitals and digits, none of which is the name of a
// file.
func slashedWords(text string, m mixture) bool {
	return m.upper > 0 && m.digits > 0 && strings.IndexByte(text, '.') < 0 && letterByte(text[0]) && !strings.HasSuffix(text, "/") && !technical(text)
}

// ownWord says whether a text ends in a short word for passwords, as those are that somebody makes up for a program: minio-pw.
func ownWord(text string) bool {
	i := strings.LastIndexAny(text, "-_.")
	return i > 2 && (text[i+1:] == "pw" || text[i+1:] == "pass" || text[i+1:] == "pwd")
}

// joinedPhrase says whether a text is a sentence of somebody with joints for its blanks, and not what a placeholder says:
// my-kitchen-is-blue.
func joinedPhrase(text string) bool {
	idle, chosen, parts := 0, 0, 0
	for part := range strings.SplitSeq(text, "-") {
		if mixtureOf(part).lower != len(part) || part == "" {
			return false
		}
		parts++
		switch {
		case idleWords[part] || commonWords[part]:
			idle++
		case len(part) >= 4:
			chosen++
		}
	}
	return parts >= 4 && chosen >= 2 && idle <= chosen
}

// sizedTypes are words of types and of checks behind which a number stands: varchar_255, required_min8.
var sizedTypes = wordMap("varchar char nvarchar text string str int bytes required optional min max")

// sizedBytes is more than the bytes of any of them, also in letters whose small ones are shorter.
const sizedBytes = 16

func sizedType(text string) bool { return len(text) <= sizedBytes && sizedTypes[strings.ToLower(text)] }

// labels are words for passwords, which stand in quotes in the texts of forms.
var labels = sync.OnceValue(func() *wordSet { return newWordSet(toldNames) })

// label says whether a text begins with such a word and little else.
func label(text string) bool {
	if !labels().any(text) {
		return false
	}
	lower := strings.ToLower(text)
	is := false
	labels().each(lower, func(word int) bool {
		name := toldNames[word]
		is = strings.HasPrefix(lower, name) && len(lower)-len(name) < 6 || name[0] >= 0x80 || strings.Contains(lower, " "+name)
		return !is
	})
	return is
}

// firstPart returns a text up to its first joint.
func firstPart(text string) string {
	for i := range len(text) {
		if !joints.has(text[i]) {
			continue
		}
		if i == 0 {
			break
		}
		return text[:i]
	}
	return text
}

// alphabetic says whether the letters beyond ASCII in a text are of alphabets with capitals. Other scripts have no
// blanks between the words of a sentence.
func alphabetic(text string) bool {
	for _, c := range text {
		if c >= 0x80 && (c < 0xC0 || c > 0x52F && c < 0x1E00 || c > 0x1EFF) {
			return false
		}
	}
	return true
}

// identifier says whether a text may be a name in a program: words that are joined as names are.
func identifier(text string, m mixture) bool {
	if m.symbols+m.others > 0 || changesCase(text) || drawnWord(text) || m.joints != strings.Count(text, "_")+strings.Count(text, ".") {
		return false
	}
	if m.endDigits > 0 && text[len(text)-m.endDigits-1] == '.' {
		// No name begins with a digit.
		return false
	}
	inner := m.upper
	if text[0] >= 'A' && text[0] <= 'Z' {
		inner--
	}
	return m.joints > 0 && m.digits == 0 || inner > 0 && m.lower > 0 && m.digits <= 1
}

// described says whether a word by its ending says how a password is, or what becomes of it.
func described(word string, m mixture) bool {
	if m.digits+m.symbols+m.joints+m.others > 0 || m.upper > 1 {
		return false
	}
	for _, ending := range []string{"ed", "ing", "able", "ible", "tion", "ly", "ical", "ado", "ada", "ido", "ida"} {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return false
}

// saidPhrase says whether words in quotes are a passphrase, and no label and no message.
func saidPhrase(text string, at place) bool {
	if len(text) > 256 || strings.ContainsAny(text, "()<>{}[]:=/\\") || strings.HasSuffix(text, ".") {
		return false
	}
	words, common := 0, 0
	for word := range strings.FieldsSeq(text) {
		word = strings.ToLower(strings.Trim(word, ".,!?'-"))
		if at < given && (saidWords[word] || idleWords[word] && !commonWords[word]) || nouned(word) || strings.HasPrefix(word, "%") {
			return false
		}
		words++
		if commonWords[word] {
			common++
		}
	}
	return words >= 2 && (common == 0 || at == given || common == 1 && words >= 3)
}

// opcodes are names of instructions of processors. None is among the words from which wallets are made.
var opcodes = wordMap("mov movl movq lea xor nop cmp jmp jne jnz jle jge ret sub mul div inc dec shl shr pop ldr beq bne lda sta tax iny adc sbb syscall")

// nouned says whether a word is one for secrets.
func nouned(word string) bool {
	return notSecrets.any(word) || nounOf(word) != noNoun
}

// idleWords are words that stand behind words for passwords and are none: types, states, what forms and policies say.
var idleWords = wordMap("string str text varchar char bytes byte bool boolean int integer number float object any unknown void null nil none undefined true false yes no on off " +
	"optional required mandatory default value values empty blank missing invalid valid incorrect wrong correct weak strong strict medium expired changed hashed encrypted plain plaintext " +
	"cleartext raw clear hash hashes bcrypt scrypt argon md sha pbkdf base hex utf binary json yaml xml form basic digest bearer oauth oauthlib jwt ldap saml oidc kerberos ntlm sso mfa totp otp " +
	"sms email mail phone username user users name names login logout admin root guest anonymous auth authentication authorization authorize authenticate input field fields label type types " +
	"kind class function method func def var let const self this param params parameter parameters arg args argument arguments option options flag flags prompt enter reset forgot change update " +
	"create delete remove set get add new old current previous next confirm confirmation repeat retype verify match matches mismatch length minlength maxlength min max minimum maximum short long " +
	"file files path env environment vault keyring keychain stdin prompted generated generate random manual auto automatic automatically never always often once only same different unique " +
	"public private internal external local remote shared global static dynamic temporary permanent here there below above later todo tbd fixme note see use used uses using stored store " +
	"sent send saved save passed pass fail failed failure error errors warning ok okay success successful done pending active inactive enabled disabled enable disable allowed denied accepted " +
	"rejected visible invisible shown show hide redacted masked protected protection policy policies rule rules strength meter manager rotation recovery hint question answer code codes pin pins " +
	"key keys credential credentials cert certificate certificates signature session sessions cookie cookies header headers query body request response server client service account accounts " +
	"database db host port url uri address test tests testing mock fake stub sample demo example foo bar baz qux lorem ipsum dolor with without from for and or not the a an is are was be been " +
	"data dict list tuple array map record struct enum interface model entity schema column table row index primary foreign primaria foránea foranea única compuesta pública privada primária estrangeira unique constraint instance property attribute element node item " +
	"callback handler promise async await return returns import export module package require include require_once throw throws raise assert expect should must may might can could will would " +
	"in at by to of as it if else then than when while where which who whom whose what why how your my our their its his her " +
	"tokens secret secrets passwort kennwort wachtwoord senha clave contraseña " +
	"erforderlich falsch richtig ungültig vergessen ändern geändert eingeben pflichtfeld leer " +
	"requis requise obligatoire incorrecte invalide oublié oublier expiré modifié vide " +
	"requerido requerida obligatorio obligatoria inválido inválida vacía vacío olvidada " +
	"obrigatório obrigatória inválida esquecida vazia richiesta obbligatoria errata dimenticata scaduta " +
	"required! postgres postgresql mysql redis mongo mongodb rabbitmq minio grafana elastic sqlite oracle docker kubernetes terraform ansible helm nginx github gitlab google " +
	"x xx xxx y z i j k n s t p v e id ids uid uuid md5 sha1 sha256 compat sss winbind systemd nis nisplus")
