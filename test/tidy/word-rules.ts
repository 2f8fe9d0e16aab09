// Words and constructs that this repository does without, each with what to use instead.
import ts from 'typescript'
import { at, folderOf, isTest, visitKinds } from './source.ts'
import type { Source } from './source.ts'

interface Ban {
  readonly name: string
  readonly instead: string
  /** Paths where it is right. */
  readonly allowedIn?: (path: string) => boolean
  /** Kinds of nodes that are looked at. */
  readonly kinds: readonly ts.SyntaxKind[]
  readonly matches: (node: ts.Node) => boolean
}

const { SyntaxKind } = ts
const members = [SyntaxKind.PropertyAccessExpression]

const program = (path: string): boolean => ['cli', 'bench', 'bin'].includes(folderOf(path))
const inClock = (path: string): boolean =>
  path === 'lib/clock.ts' || path === 'dashboard/api/clock.ts'

/** It reads none: it hides all of them from the library, which asks for some at each piece. */
const hidesEnvironment = (path: string): boolean => path === 'compiler/yaml/parse/parse.ts'

const bans: readonly Ban[] = [
  {
    name: 'enum',
    instead: 'a const object',
    kinds: [SyntaxKind.EnumDeclaration],
    matches: () => true,
  },
  {
    name: 'namespace',
    instead: 'a file',
    kinds: [SyntaxKind.ModuleDeclaration],
    matches: (node) => ts.isModuleDeclaration(node) && !isAmbient(node),
  },
  {
    name: 'default export',
    instead: 'a named export',
    allowedIn: (path) => path.endsWith('.config.ts'),
    kinds: [
      SyntaxKind.ExportAssignment,
      SyntaxKind.FunctionDeclaration,
      SyntaxKind.ClassDeclaration,
      SyntaxKind.InterfaceDeclaration,
    ],
    matches: (node) =>
      ts.isExportAssignment(node) ||
      (ts.canHaveModifiers(node) &&
        ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) === true),
  },
  {
    name: 'barrel (`export *`)',
    instead: 'an import of the file itself',
    kinds: [SyntaxKind.ExportDeclaration],
    matches: (node) => ts.isExportDeclaration(node) && node.exportClause === undefined,
  },
  {
    name: 'inline `{ type X }`',
    instead: '`import type` on its own line',
    kinds: [SyntaxKind.ImportSpecifier],
    matches: (node) => ts.isImportSpecifier(node) && node.isTypeOnly,
  },
  {
    name: 'skipped or focused test',
    instead: 'a test that runs',
    kinds: members,
    matches: (node) =>
      ts.isPropertyAccessExpression(node) &&
      /^(?:skip|only|todo|skipIf|runIf|fails)$/.test(node.name.text) &&
      /^(?:test|it|describe|suite|bench|context|ctx)\b/.test(node.expression.getText()),
  },
  {
    name: 'mock of a module or class of ours',
    instead: 'a real part, or a port that the test makes (test/support/port-of.ts)',
    kinds: [SyntaxKind.CallExpression],
    matches: (node) =>
      ts.isCallExpression(node) &&
      (isMember(node.expression, 'vi', /^(?:mock|doMock|hoisted)$/) ||
        (isMember(node.expression, 'vi', /^spyOn$/) &&
          /\bprototype$/.test(node.arguments[0]?.getText() ?? ''))),
  },
  {
    name: '`as never`',
    instead: 'a type that says what is meant',
    kinds: [SyntaxKind.AsExpression],
    matches: (node) => ts.isAsExpression(node) && node.type.kind === ts.SyntaxKind.NeverKeyword,
  },
  {
    name: 'console',
    instead: 'the logger or `io` that was passed in',
    allowedIn: program,
    kinds: members,
    matches: (node) => isMember(node, 'console', /./),
  },
  {
    name: 'process.env',
    instead: 'a setting that cli/ or node/ passes in',
    allowedIn: (path) =>
      program(path) || folderOf(path) === 'node' || isTest(path) || hidesEnvironment(path),
    kinds: members,
    matches: (node) => isMember(node, 'process', /^env$/),
  },
  {
    name: 'Math.random',
    instead: 'the Random that was passed in (lib/random.ts)',
    allowedIn: (path) => program(path) || isTest(path),
    kinds: members,
    matches: (node) => isMember(node, 'Math', /^random$/),
  },
  {
    name: 'a clock',
    instead: 'the Clock that was passed in (lib/clock.ts)',
    allowedIn: (path) => program(path) || isTest(path) || inClock(path),
    kinds: [...members, SyntaxKind.NewExpression],
    matches: (node) =>
      isMember(node, 'Date', /^now$/) ||
      isMember(node, 'performance', /^now$/) ||
      isMember(node, 'process', /^hrtime$/) ||
      (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length),
  },
]

function isMember(node: ts.Node, object: string, member: RegExp): boolean {
  if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return false
  return node.expression.text === object && member.test(node.name.text)
}

function isAmbient(node: ts.ModuleDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true
}

export function banViolations(source: Source): string[] {
  const found: string[] = []
  for (const { name, instead, kinds, allowedIn, matches } of bans) {
    if (allowedIn?.(source.path) === true) continue
    visitKinds(source.ast, kinds, (node) => {
      if (!matches(node)) return
      found.push(`${at(source, node.getStart())}: ${name} is banned; use ${instead}`)
    })
  }
  return found
}

interface Word {
  readonly pattern: RegExp
  readonly why: string
}

// Written in pieces, so that this file passes its own rule.
const anywhere: readonly Word[] = [
  { pattern: new RegExp(`\\b(?:TO${'DO'}|FIX${'ME'})\\b`), why: 'do it, or write an issue' },
  {
    pattern: new RegExp(`(?:\\.\\./)+(?:sha${'red'}|sp${'ec'}|rese${'arch'}|prototy${'pes'})\\b`),
    why: 'it is not in this repository',
  },
  {
    pattern: new RegExp(`(?:^|[\\s"'\`(=])/(?:wo${'rk'}|ro${'ot'}|ho${'me'})/`),
    why: "it is a path of one person's machine",
  },
  {
    pattern: new RegExp(`\\b(?:des${'ign'}|sty${'le'}|fie${'ld'})\\.md\\b`),
    why: 'it is not in this repository; name ARCHITECTURE.md, STYLE.md or an ADR',
  },
  {
    pattern: new RegExp(`\\bdes${'ign'} sections? \\d`),
    why: 'no such document is in this repository; name ARCHITECTURE.md or an ADR',
  },
  {
    pattern: new RegExp(`\\b[Dd]ocu${'ments?'} [AB]\\b|\\(des${'ign'}(?=[):;, ])`),
    why: 'readers do not have it; state the rule, or link the page in docs/',
  },
  {
    pattern: new RegExp(
      `https?://[^\\s"']*(?:artifact${'ory'}|nex${'us'}|verdacc${'io'}|npmmir${'ror'})`,
    ),
    why: 'it is a private package mirror',
  },
]

interface Comment {
  /** Without the marks at the ends of its lines; each mark is as many spaces. */
  readonly text: string
  readonly start: number
}

const literals = [
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.TemplateHead,
  ts.SyntaxKind.TemplateMiddle,
  ts.SyntaxKind.TemplateTail,
  ts.SyntaxKind.RegularExpressionLiteral,
  ts.SyntaxKind.JsxText,
]

const spaces = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

/** Finds comments outside of literals; adjacent lines of `//` are one comment. */
function commentsOf({ ast, text }: Source): Comment[] {
  let code = ''
  visitKinds(ast, literals, (node) => {
    const start = node.getStart()
    if (start < code.length) return
    code += text.slice(code.length, start) + spaces(text.slice(start, node.getEnd()))
  })
  code += text.slice(code.length)
  const whole = /^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|\/\/.*|\/\*[^]*?\*\//gm
  return [...code.matchAll(whole)].map(({ index, 0: found }) => ({
    text: found.replaceAll(/^[ \t]*(?:\/\/+|\/\*+|\*(?!\/))|\*\/$/gm, spaces),
    start: index,
  }))
}

/** Sentences begin at the start, after a blank line, at a tag or an item, and after a sentence. */
const opener =
  /(?:^\s*|\n\s*\n\s*|\n\s*- |@\w+ (?:[\w.]+ )?|[.!?][)"'`]*\s+|:\s*\n\s*)(Of|Who|Whoever|Those)\b/g

/** Refuses sentences that hide their subject: the reader would have to look for it elsewhere. */
export function openerViolations(source: Source): string[] {
  return commentsOf(source).flatMap(({ text, start }) =>
    [...text.matchAll(opener)].map(({ index, 0: found, 1: word = '' }) => {
      const place = at(source, start + index + found.length - word.length)
      return `${place}: a sentence opens with "${word}"; say its subject`
    }),
  )
}

const severalTags = /^(?:\/\*\*| *\*).*@(?:param|returns|throws) .* @(?:param|returns|throws) /

/** Refuses a line of a comment with two parameters, or a parameter and a result. */
export function tagViolations(source: Source): string[] {
  return source.text.split('\n').flatMap((line, i) => {
    if (!severalTags.test(line.trimStart())) return []
    return [`${source.path}:${i + 1}: give each @param, @returns and @throws a line of its own`]
  })
}

/** Rules for the words of any text file of the repository. */
export function wordViolations(path: string, text: string): string[] {
  if (!anywhere.some(({ pattern }) => pattern.test(text))) return []
  return text.split('\n').flatMap((line, index) =>
    anywhere
      .map(({ pattern, why }) => ({ match: pattern.exec(line), why }))
      .filter(({ match }) => match !== null)
      .map(({ match, why }) => `${path}:${index + 1}: remove "${match![0].trim()}": ${why}`),
  )
}

const registryOfNpm = 'https://registry.npmjs.org/'

/** A lock file may name no other registry: `npm ci` would go there on every machine. */
export function lockFileViolations(text: string): string[] {
  const { packages } = JSON.parse(text) as { packages: Record<string, { resolved?: string }> }
  return Object.entries(packages)
    .filter(([, { resolved }]) => resolved !== undefined && !resolved.startsWith(registryOfNpm))
    .map(([name]) => `package-lock.json: ${name} is resolved outside the public registry`)
}
