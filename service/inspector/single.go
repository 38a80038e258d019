package inspector

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// fileAPI stands in for api.js of the page in a file: it answers from what the file holds.
//
//go:embed file/api.js
var fileAPI string

// Single returns the page as one file that needs no daemon, with what it is to show: JSON, in the form that file/api.js reads.
// The page runs none but its own script, and its content security policy allows no request at all.
func Single(held json.RawMessage) ([]byte, error) {
	script, err := oneScript()
	if err != nil {
		return nil, err
	}
	index, err := files.ReadFile("page/index.html")
	if err != nil {
		return nil, err
	}
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return nil, err
	}
	page := string(index)
	for _, part := range []struct{ named, inline string }{
		{`<meta charset="utf-8">`, `<meta charset="utf-8">` + "\n    <meta http-equiv=\"Content-Security-Policy\" content=\"" + policyOfFile(script, string(style)) + "\">"},
		{"    <link rel=\"icon\" href=\"icon.svg\">\n", ""},
		{`<link rel="stylesheet" href="style.css">`, "<style>" + string(style) + "</style>"},
		{"    <script type=\"module\" src=\"main.js\"></script>\n", ""},
	} {
		if strings.Count(page, part.named) != 1 {
			return nil, fmt.Errorf("the page has not one %s", part.named)
		}
		page = strings.Replace(page, part.named, part.inline, 1)
	}
	before, after, found := strings.Cut(page, "  </body>")
	if !found || strings.Contains(script+string(style), "</") || strings.Contains(script, "<!--") {
		return nil, errors.New("a script or a style of the page has what ends it")
	}
	var out bytes.Buffer
	out.WriteString(before)
	out.WriteString(`    <script type="application/json" id="held">`)
	// No < is left, so nothing in it ends the block or begins another one.
	json.HTMLEscape(&out, held)
	out.WriteString("</script>\n    <script type=\"module\">" + script + "</script>\n  </body>" + after)
	return out.Bytes(), nil
}

// policyOfFile lets a page run one script and use one style, show the images that it makes of its own data, and nothing else.
func policyOfFile(script, style string) string {
	return "default-src 'none'; script-src " + hashOf(script) + "; style-src " + hashOf(style) +
		"; img-src blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// forms are those of the lines by which modules name each other.
type forms struct {
	imported, exported *regexp.Regexp
	// unknown are the forms that oneScript does not know.
	unknown *regexp.Regexp
}

var theForms = sync.OnceValue(func() forms {
	return forms{
		imported: regexp.MustCompile(`(?m)^import \{([^}]*)\} from "\./([a-z]+)\.js";\n`),
		exported: regexp.MustCompile(`(?m)^export ((?:async )?function\*?|class|const) (\w+)`),
		unknown:  regexp.MustCompile(`(?m)^\s*(?:import|export)\b|\bimport[.(]|^await\b`),
	}
})

// oneScript joins the modules of the page: each becomes a function that is called once, and returns what it exports.
func oneScript() (string, error) {
	j := joiner{forms: theForms(), done: make(map[string]bool), begun: make(map[string]bool)}
	if err := j.add("main"); err != nil {
		return "", err
	}
	return j.script.String(), nil
}

// joiner joins modules, each after those that it imports.
type joiner struct {
	forms
	script      strings.Builder
	begun, done map[string]bool
}

func (j *joiner) add(name string) error {
	switch {
	case j.done[name]:
		return nil
	case j.begun[name]:
		return fmt.Errorf("%s.js imports itself in a circle", name)
	}
	j.begun[name] = true
	source, err := sourceOf(name)
	if err != nil {
		return err
	}
	for _, match := range j.imported.FindAllStringSubmatch(source, -1) {
		if err := j.add(match[2]); err != nil {
			return err
		}
	}
	source = j.imported.ReplaceAllStringFunc(source, func(line string) string {
		match := j.imported.FindStringSubmatch(line)
		return "const {" + strings.ReplaceAll(match[1], " as ", ": ") + "} = of_" + match[2] + ";\n"
	})
	var names []string
	for _, match := range j.exported.FindAllStringSubmatch(source, -1) {
		names = append(names, match[2])
	}
	source = j.exported.ReplaceAllString(source, "$1 $2")
	if found := j.unknown.FindString(source); found != "" {
		return fmt.Errorf("%s.js has %q, which cannot be joined", name, found)
	}
	fmt.Fprintf(&j.script, "const of_%s = (() => {\n%s\nreturn { %s };\n})();\n", name, source, strings.Join(names, ", "))
	j.done[name] = true
	return nil
}

func sourceOf(module string) (string, error) {
	if module == "api" {
		return fileAPI, nil
	}
	source, err := files.ReadFile("page/" + module + ".js")
	return string(source), err
}
