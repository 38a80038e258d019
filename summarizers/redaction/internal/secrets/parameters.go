package secrets

import "strings"

// parameterNames are names of secrets among the parameters of an address.
var parameterNames = wordMap("appid key sig signature auth code credential credentials awsaccesskeyid xamzsignature xamzsecuritytoken")

// parameter adds the value of a parameter of an address.
func (r *reading) parameter(name string, at int) {
	plain := plainName(name)
	if at >= len(r.text) || r.text[at] != '=' || !parameterNames[plain] && !strings.HasSuffix(plain, "key") && !strings.HasSuffix(plain, "signature") {
		return
	}
	v := bareValue(r.text, at+1)
	text := r.text[v.start:v.end]
	if m := mixtureOf(text); len(text) >= 12 && m.digits > 0 && !m.wordsAndDigits() && entropy(text) > 3 && !standIn(text) && !dotted(text) {
		r.add(r.set.index["url-parameter"], v.start, v.end)
	}
}
