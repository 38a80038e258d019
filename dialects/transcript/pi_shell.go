package transcript

import (
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// piShell turns a command that the user ran in Pi's shell into a USER message, so that the model knows about it. It
// returns nil where the user excluded the command from the context.
func piShell(o rawjson.Object, r *noteCounter) (*compactordv1.Message, error) {
	excluded, err := o.Truth("excludeFromContext")
	if err != nil {
		return nil, err
	}
	if excluded {
		r.add(excludedShell)
		return nil, nil
	}
	text, err := piShellText(o)
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, rawjson.In("output", rawjson.TooLarge(len(text), maxText))
	}
	return &compactordv1.Message{
		Role:   compactordv1.Role_ROLE_USER,
		Origin: compactordv1.Origin_ORIGIN_IMPORT,
		Parts:  []*compactordv1.Part{textPart(text)},
	}, nil
}

// piShellText shows the command as in a terminal. It adds little text on purpose: Pi counts only command and output
// when it looks for a cut, and each further token would move our cuts away from Pi's.
func piShellText(o rawjson.Object) (string, error) {
	command, err := o.DemandText("command")
	if err != nil {
		return "", err
	}
	output, err := o.Text("output")
	if err != nil {
		return "", err
	}
	marks, err := piShellMarks(o)
	if err != nil {
		return "", err
	}
	if output == "" {
		marks = append([]string{"no output"}, marks...)
	}
	var b strings.Builder
	b.WriteString("$ " + command)
	if output = strings.TrimSuffix(output, "\n"); output != "" {
		b.WriteString("\n" + output)
	}
	for _, mark := range marks {
		b.WriteString("\n[" + mark + "]")
	}
	return b.String(), nil
}

// piShellMarks returns how the command ended, where it did not succeed, and where the rest of its output was.
func piShellMarks(o rawjson.Object) ([]string, error) {
	cancelled, err := o.Truth("cancelled")
	if err != nil {
		return nil, err
	}
	truncated, err := o.Truth("truncated")
	if err != nil {
		return nil, err
	}
	whole, err := o.Text("fullOutputPath")
	if err != nil {
		return nil, err
	}
	var marks []string
	switch code := o["exitCode"]; {
	case cancelled:
		marks = append(marks, "cancelled")
	case !o.Has("exitCode"):
	case rawjson.KindOf(code) != rawjson.Number:
		return nil, rawjson.In("exitCode", rawjson.WrongKind(code, rawjson.Number))
	case string(code) != "0":
		marks = append(marks, "exit code "+string(code))
	}
	if truncated && whole != "" {
		// The folder is a temporary one of Pi's machine. It is long and soon emptied.
		name := whole[strings.LastIndexAny(whole, `/\`)+1:]
		marks = append(marks, "shortened; all of it was in "+name)
	}
	return marks, nil
}
