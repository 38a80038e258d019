package secrets

import "strings"

// commandFlags are the flags of commands that are followed by a password, and with a '+' those that it is written
// directly behind.
var commandFlags = map[string][]string{
	"mysql": {"-p+"}, "mysqldump": {"-p+"}, "mysqladmin": {"-p+"}, "mysqlimport": {"-p+"}, "mariadb": {"-p+"}, "mariadb-dump": {"-p+"}, "sshpass": {"-p", "-p+"},
	"mongosh": {"-p", "-p+"}, "mongo": {"-p"}, "mongodump": {"-p"}, "redis-cli": {"-a"}, "ldapsearch": {"-w"}, "ldapmodify": {"-w"}, "ldapadd": {"-w"},
	"ldapwhoami": {"-w"}, "ldappasswd": {"-w", "-s", "-a"}, "ldapdelete": {"-w"}, "docker": {"-p"}, "podman": {"-p"}, "helm": {"-p"}, "az": {"-p"}, "7z": {"-p+"}, "7za": {"-p+"}, "zip": {"-P"}, "unzip": {"-P"}, "keytool": {"-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass"},
	"useradd": {"-p"}, "usermod": {"-p"}, "sqlcmd": {"-P"}, "oathtool": {"-b"}, "ssh-keygen": {"-N", "-P"}, "rar": {"-p+", "-hp+"}, "unrar": {"-p+"}, "htpasswd": {},
	"twine": {"-p"}, "openssl": {"-K", "-k"}, "smbclient": {"-p"}, "mysqlsh": {"-p+"}, "rabbitmqadmin": {"-p"}, "svn": {"--password"},
	"snmpwalk": {"-A", "-X", "-c"}, "snmpget": {"-A", "-X", "-c"}, "snmpset": {"-A", "-X", "-c"}, "snmpbulkwalk": {"-A", "-X", "-c"}, "signtool": {"/p"}, "cqlsh": {"-p"},
	"ipmitool": {"-P"}, "security": {"-w", "-p", "-P"}, "mcrcon": {"-p"}, "influx": {"-t", "-password", "--token"}, "vsql": {"-w"}, "altool": {"-p"}, "bcp": {"-P"}, "osql": {"-P"}, "isql": {"-P"}, "db2": {"-p"},
	"evil-winrm": {"-p"}, "winrs": {"-p"}, "psexec": {"-p"}, "nxc": {"-p"}, "jarsigner": {"-storepass", "-keypass"}, "kadmin": {"-w"},
}

// commandBytes is how much of a command is read.
const commandBytes = 512

// findCommand finds passwords among the arguments of commands whose flags do not say that they are passwords.
func findCommand(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) {
		return
	}
	from, to := start, end
	for to < len(text) && to-from < 24 && (wordByte(text[to]) || text[to] == '-') {
		to++
	}
	name := strings.ToLower(text[from:to])
	flags, known := commandFlags[name]
	listed := strings.HasPrefix(text[to:], `",`)
	if !known || to < len(text) && text[to] != ' ' && text[to] != '\t' && !listed {
		return
	}
	limit := lineEnd(text, to, commandBytes)
	if listed {
		// The words of a command in JSON.
		to++
	}
	login := (name != "docker" && name != "podman" && name != "helm" && name != "az") || strings.Contains(text[to:limit], " login")
	if !login {
		// Another command may follow it.
		r.until[rule] = to
		return
	}
	awaited := ""
	for at := to; at < limit; {
		arg, next := argumentAt(text, at, limit)
		if next == at {
			break
		}
		word := text[arg.start:arg.end]
		switch {
		case listed && word == ",":
		case awaited != "":
			if !strings.HasPrefix(word, "-") && secretArgument(word) {
				r.add(rule, arg.start, arg.end)
			}
			awaited = ""
		default:
			awaited = r.flag(rule, flags, word, arg)
		}
		at = next
	}
	r.until[rule] = limit
}

// flag returns the flag whose value follows, and adds the value of one that it is written behind.
func (r *reading) flag(rule int, flags []string, word string, arg value) string {
	for _, flag := range flags {
		name, behind := strings.CutSuffix(flag, "+")
		if !behind {
			if word == name {
				return name
			}
			continue
		}
		if rest, found := strings.CutPrefix(word, name); found && rest != "" {
			start, end := arg.start+len(name), arg.end
			if rest[0] == '"' || rest[0] == '\'' {
				v := valueAt(r.text, start)
				start, end = v.start, v.end
			}
			if secretArgument(r.text[start:end]) {
				r.add(rule, start, end)
				return ""
			}
		}
	}
	return ""
}

// secretArgument says whether an argument in the place of a password is one.
func secretArgument(text string) bool {
	m := mixtureOf(text)
	return phraseLike(text) || fits(text, given) && !strings.HasPrefix(text, "-") && !strings.HasSuffix(text, ".sql") || len(text) >= 4 && !standIn(text) && (m.digits > 0 || m.symbols > 0) && m.brackets == 0 && m.letters() > 0 &&
		!strings.Contains(text, "://") && !strings.HasSuffix(text, ":") && strings.Count(text, "/") < 2 && !strings.HasSuffix(text, ".sql") && !uuidLike(text)
}

func lineEnd(text string, at, limit int) int {
	to := min(at+limit, len(text))
	if i := strings.IndexByte(text[at:to], '\n'); i >= 0 {
		to = at + i
	}
	if i := strings.IndexByte(text[at:to], ';'); i >= 0 {
		to = at + i
	}
	return to
}

// argumentAt reads an argument, without the quotes around it, and returns where the next one begins.
func argumentAt(text string, at, limit int) (arg value, next int) {
	for at < limit && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	if at < limit && (text[at] == '"' || text[at] == '\'') {
		if i := strings.IndexByte(text[at+1:limit], text[at]); i >= 0 {
			return value{at + 1, at + 1 + i, true}, at + i + 2
		}
	}
	end := at
	for end < limit && text[end] != ' ' && text[end] != '\t' && text[end] != '`' {
		if (text[end] == '"' || text[end] == '\'') && end+1 < limit {
			if i := strings.IndexByte(text[end+1:limit], text[end]); i >= 0 {
				end += i + 1
			}
		}
		end++
	}
	return value{at, end, false}, max(end, at)
}

// findCredentialsArgument finds the password of a name with a password behind a flag for both.
func findCredentialsArgument(r *reading, rule, start, end int) {
	if !r.again(rule, start, end+2*sideBytes) {
		return
	}
	arg, _ := argumentAt(r.text, end, lineEnd(r.text, end, 256))
	r.userAndPassword(rule, r.text[arg.start:arg.end], arg)
}

// findPlain finds the password behind the name of a scheme that leaves it as it is, in a list of users.
func findPlain(r *reading, rule, _, end int) {
	v := bareValue(r.text, end)
	if field, _, found := strings.Cut(r.text[v.start:v.end], ":"); found {
		v.end = v.start + len(field)
	}
	if fits(r.text[v.start:v.end], given) {
		r.add(rule, v.start, v.end)
	}
}

// findUserArgument finds the password of `-u name:password` in commands for addresses.
func findUserArgument(r *reading, rule, start, end int) {
	text := r.text
	if start > 0 && wordByte(text[start-1]) || end >= len(text) || wordByte(text[end]) {
		return
	}
	limit := min(end+4*commandBytes, len(text))
	awaited := false
	for at := end; at < limit; {
		if text[at] == '\n' || text[at] == '\r' || text[at] == '\\' {
			at++
			continue
		}
		line := limit
		if i := strings.IndexByte(text[at:limit], '\n'); i >= 0 {
			line = at + i
		}
		arg, next := argumentAt(text, at, line)
		if next == at {
			at++
			continue
		}
		word := text[arg.start:arg.end]
		if (word == "curl" || word == "$") && arg.start > end {
			limit = arg.start
			break
		}
		attached := false
		for _, flag := range []string{"-u", "--user=", "--proxy-user=", "--user", "-U"} {
			if !awaited && strings.HasPrefix(word, flag) && len(word) > len(flag) && word[len(flag)] != '-' && flag != "--user" {
				v := valueAt(text, arg.start+len(flag))
				if !v.quoted {
					v.end = arg.end
				}
				arg, word, attached = v, text[v.start:v.end], true
			}
		}
		if awaited || attached {
			r.userAndPassword(rule, word, arg)
			awaited = false
		} else {
			awaited = word == "-u" || word == "--user" || word == "--proxy-user" || word == "-a" || word == "-U"
		}
		at = next
	}
	r.until[rule] = limit
}

// userAndPassword adds the password of a word such as name:password.
func (r *reading) userAndPassword(rule int, word string, arg value) {
	i := strings.IndexAny(word, ":%")
	if i < 0 {
		return
	}
	password := strings.Trim(word[i+1:], "\"'")
	if len(password) < 3 || standIn(password) || strings.ContainsAny(password, "${}<>") || loginWords[strings.ToLower(password)] {
		if user := strings.Trim(word[:i], "\"'"); password == "" && randomLike(user) {
			r.add(rule, arg.start, arg.start+i)
		}
		return
	}
	start := arg.start + i + 1
	if word[i+1] == '"' || word[i+1] == '\'' {
		start++
	}
	r.add(rule, start, start+len(password))
}

// loginWords are words that stand for passwords in examples.
var loginWords = wordMap("pass password passwd pwd secret token user username test changeme admin root postgres postgresql mysql redis mongo mongodb guest rabbitmq key " +
	"api_key api-key oauth oauth2 x-oauth-basic mysecret mypass mypassword pw passphrase example change-it")
