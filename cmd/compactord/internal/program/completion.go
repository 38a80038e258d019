package program

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/docs"
)

// completionCommand is `compactord completion`.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Help is printed below the flags.
func (c *completionCommand) Help() string {
	return `Load it once, or from the startup file of the shell:

  bash:       source <(compactord completion bash)
  zsh:        source <(compactord completion zsh)
  fish:       compactord completion fish | source
  powershell: compactord completion powershell | Out-String | Invoke-Expression`
}

// Run prints the script.
func (c *completionCommand) Run(a *api.App) error {
	all, err := newParser(a, nil)
	if err != nil {
		return err
	}
	write := map[string]func(*bufio.Writer, []completed){
		"bash": completeBash, "zsh": completeZsh, "fish": completeFish, "powershell": completePowerShell,
	}[c.Shell]
	write(a.Out, completions(all.Model))
	return nil
}

// completed is what can follow a command.
type completed struct {
	name, help string
	// words are what its first argument can be: commands below it, topics, or choices.
	words []string
	flags []completedFlag
}

type completedFlag struct {
	name, help string
	// short is the flag's letter, or empty.
	short      string
	takesValue bool
}

// completions returns the commands in order, each with its flags.
func completions(model *kong.Application) []completed {
	commands := make([]completed, 0, len(model.Children))
	for _, child := range model.Children {
		c := completed{name: child.Name, help: child.Help, words: firstWords(model, child)}
		for _, node := range append([]*kong.Node{child}, child.Children...) {
			for _, group := range node.AllFlags(true) {
				for _, flag := range group {
					c.flags = withFlag(c.flags, flag)
				}
			}
		}
		commands = append(commands, c)
	}
	return commands
}

// withFlag adds a flag that a command does not have yet.
func withFlag(flags []completedFlag, flag *kong.Flag) []completedFlag {
	name := "--" + flag.Name
	if slices.ContainsFunc(flags, func(f completedFlag) bool { return f.name == name }) {
		return flags
	}
	short := ""
	if flag.Short != 0 {
		short = string(flag.Short)
	}
	flags = append(flags, completedFlag{name, flag.Help, short, !flag.IsBool()})
	if flag.Tag.Negatable != "" {
		flags = append(flags, completedFlag{"--no-" + flag.Name, flag.Help, "", false})
	}
	return flags
}

// firstWords returns what the first argument of a command can be, where that is known.
func firstWords(model *kong.Application, command *kong.Node) []string {
	var words []string
	for _, child := range command.Children {
		words = append(words, child.Name)
	}
	if len(command.Positional) == 0 {
		return words
	}
	first := command.Positional[0]
	if first.Enum != "" {
		words = strings.Split(first.Enum, ",")
	}
	if first.Name == "topic" {
		words = docs.Names()
		for _, other := range model.Children {
			if !slices.Contains(words, other.Name) {
				words = append(words, other.Name)
			}
		}
	}
	return words
}

func namesOf(commands []completed) string {
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.name
	}
	return strings.Join(names, " ")
}

func (c completed) flagNames() string {
	names := make([]string, len(c.flags))
	for i, f := range c.flags {
		names[i] = f.name
	}
	return strings.Join(names, " ")
}

// completeBash completes commands, then flags, and else files.
func completeBash(out *bufio.Writer, commands []completed) {
	fmt.Fprintf(out, `_%[1]s() {
  local cur="${COMP_WORDS[COMP_CWORD]}" flags="" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "%[2]s" -- "$cur"))
    return
  fi
  case "${COMP_WORDS[1]}" in
`, terminal.ProgramName, namesOf(commands))
	for _, c := range commands {
		fmt.Fprintf(out, "    %s) flags=\"%s\" words=\"%s\" ;;\n", c.name, c.flagNames(), strings.Join(c.words, " "))
	}
	fmt.Fprintf(out, `  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); fi ;;
  esac
}
complete -o default -F _%[1]s %[1]s
`, terminal.ProgramName)
}

// completeZsh describes what it completes.
func completeZsh(out *bufio.Writer, commands []completed) {
	fmt.Fprintf(out, "#compdef %[1]s\n_%[1]s() {\n  local -a commands flags words_of\n  commands=(\n", terminal.ProgramName)
	for _, c := range commands {
		fmt.Fprintf(out, "    %s\n", quoted(c.name+":"+c.help))
	}
	fmt.Fprint(out, "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n")
	for _, c := range commands {
		fmt.Fprintf(out, "    %s) flags=(", c.name)
		for _, f := range c.flags {
			fmt.Fprintf(out, " %s", quoted(f.name+":"+f.help))
		}
		fmt.Fprintf(out, " ) words_of=( %s ) ;;\n", strings.Join(c.words, " "))
	}
	fmt.Fprintf(out, "  esac\n  if [[ $PREFIX == -* ]]; then\n    _describe -o flag flags\n  elif (( CURRENT == 3 && $#words_of )); then\n    compadd -a words_of\n  else\n    _files\n  fi\n}\ncompdef _%[1]s %[1]s\n",
		terminal.ProgramName)
}

// completeFish describes what it completes.
func completeFish(out *bufio.Writer, commands []completed) {
	for _, c := range commands {
		fmt.Fprintf(out, "complete -c %s -n __fish_use_subcommand -f -a %s -d %s\n", terminal.ProgramName, c.name, quotedFish(c.help))
		if len(c.words) > 0 {
			fmt.Fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' -f -a %s\n", terminal.ProgramName, c.name,
				quotedFish(strings.Join(c.words, " ")))
		}
		for _, f := range c.flags {
			value := ""
			if f.short != "" {
				value = " -s " + f.short
			}
			if f.takesValue {
				value += " -r"
			}
			fmt.Fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' -l %s%s -d %s\n",
				terminal.ProgramName, c.name, strings.TrimPrefix(f.name, "--"), value, quotedFish(f.help))
		}
	}
}

// completePowerShell completes commands, then flags.
func completePowerShell(out *bufio.Writer, commands []completed) {
	fmt.Fprintf(out, `Register-ArgumentCompleter -Native -CommandName %s -ScriptBlock {
  param($word, $ast, $position)
  $flags = @{
`, terminal.ProgramName)
	for _, c := range commands {
		fmt.Fprintf(out, "    '%s' = '%s'\n", c.name, c.flagNames())
	}
	fmt.Fprint(out, "  }\n  $first = @{\n")
	for _, c := range commands {
		if len(c.words) > 0 {
			fmt.Fprintf(out, "    '%s' = '%s'\n", c.name, strings.Join(c.words, " "))
		}
	}
	fmt.Fprintf(out, `  }
  $elements = $ast.CommandElements
  $words = '%s'
  if ($elements.Count -gt 2 -or ($elements.Count -eq 2 -and $word -eq '')) {
    $words = $flags["$($elements[1])"]
    if ($first["$($elements[1])"] -and -not $word.StartsWith('-')) { $words = $first["$($elements[1])"] }
  }
  $words -split ' ' | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`, namesOf(commands))
}

// quoted returns a text as one word of zsh.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// quotedFish returns a text as one word of fish.
func quotedFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
