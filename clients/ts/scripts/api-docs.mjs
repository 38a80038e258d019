// Writes docs/api.md from the TSDoc of what the package exports.
//
// Usage: node scripts/api-docs.mjs [--check]
//
// With --check it writes nothing, and fails where the file is not what would be written.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

import ts from "typescript";

const root = join(import.meta.dirname, "..");
const document = join(root, "docs/api.md");

const head = `# The TypeScript API

Generated from the comments of the sources by \`npm run docs\`; the [README](../README.md) shows how things are used. Messages
and enums of the contract are in \`compactord/v1\`, the types of the last two subjects in \`compactord/types\`, and adapters of
frameworks in modules of their own, which the headings name. \`Code\`, and \`Stub\`, which is its \`Client\`, are of Connect.
`;

const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
/** The sources of the adapters, by the headings of their sections. Several export the same names. */
const adapters = {
  "The AI SDK: `compactord/ai-sdk`": "adapters/aiSdk",
  "LangChain and LangGraph: `compactord/langchain`": "adapters/langchain",
  "The OpenAI Agents SDK: `compactord/openai-agents`": "adapters/openaiAgents",
};
const entries = ["index", "types"];
const sourceOf = (name) => join(root, `src/${name}.ts`);
const program = ts.createProgram([...entries, ...Object.values(adapters)].map(sourceOf), options);
const checker = program.getTypeChecker();

/** What the package exports of its own, but for the adapters, in the order of its sources. */
const exported = entries.flatMap(exportsOf);

function exportsOf(entry) {
  return checker
    .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(sourceOf(entry))))
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
    .filter((symbol) => symbol.declarations?.every(isOwn));
}

function isOwn(declaration) {
  return declaration.getSourceFile().fileName.startsWith(join(root, "src"));
}

/** What is documented under each subject, in this order, as on the page of the Python API, but for types. */
const subjects = {
  "The client": ["Client", "ClientOptions", "ConnectionOptions", "TLSOptions", "CallOptions", "WriteOptions"].concat([
    "embedded",
    "EmbeddedClient",
    "EmbeddedOptions",
  ]),
  Sessions: ["Session", "SessionOptions", "SessionHandleOptions", "AppendOptions", "Instructions"]
    .concat(["block", "BlockContent", "BlockSettings", "BlockChanges"])
    .concat(["RecallOptions", "SearchQuery", "RecordFilter"]),
  Messages: ["user", "assistant", "system", "developer", "toolResult", "ToolResultOptions"].concat([
    "Appendable",
    "Appendables",
    "ProviderJson",
    "DialectName",
  ]),
  "Views and whole lists": ["View", "ViewOptions", "Synced", "SyncOptions", "Compacted", "CompactedOptions"].concat([
    "Element",
    "SystemPrompt",
  ]),
  Compactions: ["Compaction", "CompactionResult", "CompactionOptions", "PruneOptions", "FoldTarget"].concat([
    "WriteSummary",
    "Prompt",
    "Answer",
    "PolicyLike",
    "PolicyObject",
  ]),
  "Turns and tools": ["Turn", "TurnOptions", "CallModel", "ModelOutput", "RunTool", "ToolCall", "ToolAnswer"]
    .concat(["ToolOutput", "ToolRejected", "TouchedFile", "Mail", "Announce", "ExtraBlocks"])
    .concat(["AgentTools", "AgentToolsOptions", "ToolDefinition"]),
  "Going back, watching, children": [
    "RevertTarget",
    "RevertOptions",
    "ListedCheckpoint",
    "WatchItem",
    "WatchOptions",
  ].concat(["ChildOptions", "EndOptions"]),
  Errors: ["CompactordError"].concat(named(/Error$/, "CompactordError")),
  Words: ["word"],
  "Types of words, tools and errors": ["Word"]
    .concat(named(/Name$/, "DialectName"))
    .concat(["ToolShapes", "ToolParameters", "ToolParameter", "FieldViolation", "ErrorFacts"]),
  "Types of providers' messages": ["ProviderMessages", "ProviderRequests", "ProviderSystems", "Of"].concat(
    named(/^(Anthropic|Chat|Responses|Gemini)/),
  ),
};

/** The exported names that match, but for some. */
function named(pattern, ...others) {
  return exported.map(({ name }) => name).filter((name) => pattern.test(name) && !others.includes(name));
}

/** The symbols of a subject. */
function symbolsOf(names) {
  return names.map((name) => {
    const symbol = exported.find((one) => one.name === name);
    if (symbol === undefined) {
      throw new Error(`subjects: the package exports no ${name}`);
    }
    return symbol;
  });
}

/** The anchor that a heading gets. */
function anchor(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, "")
    .replaceAll(" ", "-");
}

/** The whole page. Throws where an exported name has no subject, or several. */
function page() {
  const placed = Object.values(subjects).flat();
  const strays = exported.map(({ name }) => name).filter((name) => placed.filter((one) => one === name).length !== 1);
  if (strays.length > 0) {
    throw new Error(`subjects: ${strays.join(", ")}: each exported name belongs to one subject`);
  }
  const sections = [
    ...Object.entries(subjects).map(([title, names]) => [title, symbolsOf(names)]),
    ...Object.entries(adapters).map(([title, entry]) => [title, exportsOf(entry)]),
  ];
  const contents = sections.map(([title]) => `- [${title}](#${anchor(title)})`);
  const parts = sections.flatMap(([title, symbols]) => [`## ${title}`, ...symbols.flatMap(section)]);
  return `${[head.trim(), contents.join("\n"), ...parts].filter((part) => part !== "").join("\n\n")}\n`;
}

/** The declarations that one inherits from and that the package does not export, the lowest first: for programs, all is its. */
function hiddenBases(declaration) {
  return (declaration.heritageClauses ?? [])
    .filter(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    .flatMap(({ types }) => types.map(({ expression }) => checker.getTypeAtLocation(expression).symbol))
    .filter((symbol) => !exported.includes(symbol))
    .flatMap(({ declarations }) => declarations.filter(isOwn))
    .flatMap((base) => [...hiddenBases(base), base]);
}

/** The section of one exported name. */
function section(symbol) {
  const [declaration] = symbol.declarations;
  const { name } = symbol;
  const title = (kind) => `### ${kind} \`${name}\``;
  if (ts.isClassDeclaration(declaration)) {
    return [title("class"), code(headOf(declaration)), said(symbol), ...members(name, declaration)];
  }
  if (ts.isInterfaceDeclaration(declaration)) {
    return [title("interface"), code(headOf(declaration)), said(symbol), ...members(name, declaration)];
  }
  if (ts.isFunctionDeclaration(declaration)) {
    return [title("function"), code(signature(declaration)), said(symbol)];
  }
  return [title("type"), code(signature(declaration)), said(symbol)];
}

/** The members that a program sees: fields as a list, then a part for each of the others. */
function members(owner, declaration) {
  // What is declared again stands where it was declared first.
  const byName = new Map();
  for (const holder of [...hiddenBases(declaration), declaration]) {
    const own = holder.members.filter((member) => isPublic(member) && !isNameOfError(member));
    const nameOf = (member) => member.name?.getText() ?? "new";
    for (const name of new Set(own.map(nameOf))) {
      byName.set(
        name,
        own.filter((member) => nameOf(member) === name),
      );
    }
  }
  const seen = [...byName.values()].flat();
  const fields = seen.filter((member) => ts.isPropertyDeclaration(member) || ts.isPropertySignature(member));
  const list = fields.map((field) => `- \`${oneLine(signature(field))}\`: ${oneLine(commentOf(field))}`).join("\n");
  const parts = new Map();
  for (const member of seen.filter((one) => !fields.includes(one))) {
    const name = ts.isConstructorDeclaration(member) ? `new ${owner}()` : `${owner}.${partName(member)}`;
    // Of an overloaded one, the last declaration is how it is done.
    if (!parts.has(name) || member.body === undefined) {
      parts.set(name, [...(parts.get(name) ?? []), code(signature(member)), commentOf(member)]);
    }
  }
  return [list, ...[...parts].flatMap(([name, texts]) => [`#### \`${name}\``, ...texts])];
}

function partName(member) {
  const called = ts.isMethodDeclaration(member) || ts.isMethodSignature(member);
  return `${member.name.getText()}${called ? "()" : ""}`;
}

/** Whether a program may use a member. A setter goes without saying beside its getter. */
function isPublic(member) {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  const inner = member.name !== undefined && ts.isPrivateIdentifier(member.name);
  const internal = ts.getJSDocTags(member).some((tag) => tag.tagName.text === "internal");
  const unsaid = ts.isSetAccessorDeclaration(member) || (ts.isConstructorDeclaration(member) && isError(member.parent));
  return !(ts.getCombinedModifierFlags(member) & hidden) && !inner && !internal && !unsaid;
}

/** Programs catch errors, and do not make them; they do make what they throw themselves. */
function isError({ name }) {
  return name.text.endsWith("Error");
}

function isNameOfError(member) {
  return member.name?.getText() === "name" && Boolean(ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Override);
}

/** The first line of a class or an interface. */
function headOf(declaration) {
  const text = declaration.getText();
  const end = declaration.members.length > 0 ? declaration.members.pos - declaration.getStart() : text.length;
  return text
    .slice(0, end)
    .replace(/\{\s*\}?$/, "")
    .replace(/^export /, "")
    .replace(hiddenBases(declaration).length > 0 ? / extends \w+/ : "", "")
    .trim();
}

/** A declaration as its source writes it, without its body and what says nothing to those who use it. */
function signature(declaration) {
  const file = declaration.getSourceFile();
  const start = declaration.getStart(file);
  const { body, initializer, type } = declaration;
  const end = body?.pos ?? (initializer && type ? type.end : declaration.end);
  const { character } = file.getLineAndCharacterOfPosition(start);
  const text = file.text
    .slice(start, end)
    .replace(/^(export |async |override )+/, "")
    .replace(/^constructor\(/, () => `new ${declaration.parent.name.text}(`)
    .replace(/;$/, "");
  return text.replaceAll(`\n${" ".repeat(character)}`, "\n").trim();
}

function code(text) {
  return `\`\`\`ts\n${text}\n\`\`\``;
}

/** What is said of a symbol. */
function said(symbol) {
  return linked(ts.displayPartsToString(symbol.getDocumentationComment(checker)));
}

/** What is said of one declaration, which may be one of several of its name. */
function commentOf(declaration) {
  const [comment] = ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc).slice(-1);
  return linked(ts.getTextOfJSDocComment(comment?.comment) ?? "");
}

function linked(text) {
  return text.replace(/\{@link ([^}\s]+)\s*\}/g, "`$1`");
}

function oneLine(text) {
  return text.replace(/\s*\n\s*/g, " ");
}

const text = page();
if (!process.argv.includes("--check")) {
  writeFileSync(document, text);
} else if (readFileSync(document, "utf8") !== text) {
  process.stderr.write("docs/api.md is not what the sources say: npm run docs\n");
  process.exitCode = 1;
}
