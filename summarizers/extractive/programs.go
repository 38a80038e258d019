package extractive

import (
	"slices"
	"strings"
)

// operations are programs whose changes are milestones: they change what runs somewhere, or data.
var operations = wordSet(`kubectl oc helm terraform tofu pulumi ansible-playbook aws gcloud az psql mysql mariadb sqlite3 mongosh redis-cli systemctl
	flyctl vercel heroku`)

// maxOperation is how many units of an operation's command line are shown.
const maxOperation = 240

// showWhole shows more of an operation than of other commands: its options say what it was done to.
func (c *command) showWhole() {
	if program, _, _ := strings.Cut(c.shown, " "); operations[program] && !c.reads && len(splitCommand(c.said)) == 1 {
		c.shown = shorten(oneLine(c.said), maxOperation)
	}
}

// The subcommands of programs that change nothing.
var readingCommands = func() map[string]map[string]bool {
	known := map[string]map[string]bool{}
	for programs, subcommands := range map[string]string{
		"kubectl oc":                          `get describe logs top explain version api-resources api-versions diff cluster-info events auth wait config`,
		"docker podman":                       `get ps logs describe images inspect version info stats top port diff history search`,
		"helm":                                `list ls status history get show search template lint version diff`,
		"terraform tofu":                      `plan show output validate version providers graph`,
		"pulumi":                              `preview about logs whoami version`,
		"systemctl":                           `status is-active is-enabled is-failed list-units list-timers list-unit-files show cat`,
		"redis-cli":                           `info get mget keys scan ttl pttl exists type dbsize hget hgetall hkeys llen lrange smembers scard zrange zcard memory ping`,
		"pip uv":                              `list show freeze check`,
		"npm pnpm yarn":                       `ls list view info outdated why`,
		"amtool vault consul nomad etcdctl":   `query show status list get read`,
		"brew apt apt-get dnf yum snap cargo": `list info search show tree metadata`,
	} {
		for p := range strings.FieldsSeq(programs) {
			known[p] = wordSet(subcommands)
		}
	}
	return known
}()

// readers are other programs whose arguments say whether they change something.
var readers = wordSet(`ssh sh bash aws gcloud az psql mysql mariadb sqlite3 gh glab`)

// programReads says whether a command of a program with subcommands changes nothing. known says that the program is one.
func programReads(w []string) (reads, known bool) {
	if !readers[w[0]] && readingCommands[w[0]] == nil {
		return false, false
	}
	operands := operandsOf(w)
	switch w[0] {
	case "kubectl", "oc", "docker", "podman":
		if slices.Contains(operands, "exec") {
			return insideReads(w), true
		}
		if i := slices.Index(operands, "rollout"); i >= 0 && i+1 < len(operands) {
			return operands[i+1] == "status" || operands[i+1] == "history", true
		}
		if slices.Contains(w, "--dry-run") || len(operands) == 0 {
			return true, true
		}
	case "ssh":
		return insideReads(w), len(operands) > 1
	case "sh", "bash":
		if i := slices.Index(w, "-c"); i >= 0 && i+1 < len(w) {
			return scriptReads(w[i+1]), true
		}
		return false, false
	case "aws", "gcloud", "az":
		return slices.ContainsFunc(operands, func(word string) bool {
			verb, _, _ := strings.Cut(word, "-")
			return verb == "describe" || verb == "list" || verb == "get" || word == "ls" || word == "show" || word == "wait"
		}), true
	case "psql", "mysql", "mariadb", "sqlite3":
		return statementsRead(w), true
	case "gh", "glab":
		if len(operands) > 0 && operands[0] == "api" {
			return !slices.ContainsFunc(w, sendsFields), true
		}
		return false, false
	}
	set := readingCommands[w[0]]
	if set == nil || len(operands) == 0 {
		return false, false
	}
	if commandGroups[operands[0]] && len(operands) > 1 {
		operands = operands[1:]
	}
	return set[strings.ToLower(operands[0])], true
}

var (
	// commandGroups are words between a program and its subcommand.
	commandGroups = wordSet(`compose container image volume network silence alert state workspace repo kv`)
	// valueOptions are options of these programs whose value is the next word.
	valueOptions = wordSet(`-n --namespace --context --kubeconfig -f --file -C -H --host --profile --region -p -i -o -l -h -U -d -u --project`)
)

// operandsOf returns the words of a command without its program and its options.
func operandsOf(w []string) []string {
	var operands []string
	for i := 1; i < len(w); i++ {
		switch {
		case valueOptions[w[i]]:
			i++
		case w[i] != "" && w[i][0] != '-':
			operands = append(operands, w[i])
		}
	}
	return operands
}

// sendsFields says whether an option of a request to an API makes it change something.
func sendsFields(word string) bool {
	switch word {
	case "-f", "-F", "--field", "--raw-field", "--input", "POST", "PUT", "PATCH", "DELETE", "-XPOST", "-XPUT", "-XPATCH", "-XDELETE":
		return true
	}
	return false
}

// insideReads says whether the command changes nothing that a command line runs elsewhere, after `--` or a host's name.
func insideReads(w []string) bool {
	if i := slices.Index(w, "--"); i >= 0 {
		w = w[i+1:]
	} else {
		// What precedes it are options with their values, a verb, and the name of the place.
		first := slices.IndexFunc(w[1:], func(word string) bool {
			return word == "sh" || word == "bash" || word == "psql" || !isChange([]string{word})
		})
		if first < 0 {
			return len(w) > 1 && scriptReads(w[len(w)-1])
		}
		w = w[1+first:]
	}
	if len(w) == 0 {
		return false
	}
	return !isChange(w)
}

// scriptReads says whether all commands of a script change nothing.
func scriptReads(script string) bool {
	segments := splitCommand(script)
	for _, seg := range segments {
		if w := words(seg.text); len(w) > 0 && !isFilter(w[0]) && isChange(w) || slices.Contains(w, "xargs") {
			return false
		}
	}
	return len(segments) > 0
}

// statementsRead says whether a database's client runs only statements that change nothing.
func statementsRead(w []string) bool {
	reads := false
	for _, word := range w[1:] {
		switch {
		case slices.ContainsFunc(strings.Split(word, ";"), changeStatement().MatchString), word == "-f":
			return false
		case readStatement().MatchString(word), word == "-l", strings.HasPrefix(word, `\`), strings.HasPrefix(word, "."):
			reads = true
		}
	}
	return reads
}
