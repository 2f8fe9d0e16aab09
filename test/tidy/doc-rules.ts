// The rules about documents: links that lead somewhere, decisions in their form, pinned workflows.
import { posix } from 'node:path'

/** Relative links of a Markdown file to files that do not exist. */
export function linkViolations(
  path: string,
  text: string,
  exists: (path: string) => boolean,
): string[] {
  const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target)
  return links
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !exists(posix.join(posix.dirname(path), target)))
    .map((target) => `${path}: the link to ${target} leads nowhere`)
}

const opener = /(?:^|\| |^- (?:\\[+-] )?|[.!?][)"'`*]* )(Of|Who|Whoever|Those)\b/gm

/** Sentences that hide their subject, as in comments; the texts of the reference are in sources. */
export function hiddenSubjects(path: string, text: string): string[] {
  return [...text.matchAll(opener)].map(({ index, 1: word }) => {
    const line = text.slice(0, index + 1).split('\n').length
    return `${path}:${line}: a sentence opens with "${word}"; say its subject`
  })
}

const adrParts = ['Context', 'Decision', 'Consequences', 'Alternatives']

/** An ADR is a page: a number as in its file name, status and date, four parts in order. */
export function adrViolations(path: string, text: string): string[] {
  const found: string[] = []
  const number = Number(/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1])
  if (!text.startsWith(`# ${number}. `))
    found.push(`${path}: the title starts with "# ${number}. "`)
  if (!/^Status: (?:proposed|accepted|replaced by .+)\. Date: \d{4}-\d\d-\d\d\.$/m.test(text)) {
    found.push(`${path}: write "Status: accepted. Date: YYYY-MM-DD."`)
  }
  const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)
  if (parts.join() !== adrParts.join()) found.push(`${path}: the parts are ${adrParts.join(', ')}`)
  const lines = text.split('\n').length
  if (lines > 70) found.push(`${path}: ${lines} lines; a decision is a page`)
  return found
}

const changeKinds = ['Safety', 'Performance', 'Features', 'Internals']

/** More than a screen is for the pages of the things themselves. */
const releaseLinesMax = 60

/** The parts of a release, in order; a release may leave some out. Each fits on a screen. */
export function changelogViolations(text: string): string[] {
  const releases = text.split(/^## /m).slice(1)
  return releases.flatMap((release) => {
    const name = release.split('\n')[0]!
    const kinds = [...release.matchAll(/^### (.+)$/gm)].map(([, kind = '']) => kind)
    const ordered = changeKinds.filter((kind) => kinds.includes(kind))
    const found: string[] = []
    if (ordered.join() !== kinds.join())
      found.push(`CHANGELOG.md: ${name} may have ${changeKinds.join(', ')}, in this order`)
    const lines = release.trimEnd().split('\n').length
    if (lines > releaseLinesMax)
      found.push(
        `CHANGELOG.md: ${name} has ${lines} lines of ${releaseLinesMax}; pages say the rest`,
      )
    return found
  })
}

/** Actions run with our token: each is pinned by hash, and the token reads only. */
export function workflowViolations(path: string, text: string): string[] {
  const found: string[] = []
  for (const [, action = ''] of text.matchAll(/^\s*(?:- )?uses: (\S+)/gm)) {
    if (action.startsWith('./') || /@[0-9a-f]{40}$/.test(action)) continue
    found.push(`${path}: pin ${action} by the hash of its commit`)
  }
  if (!/^permissions:\n {2}contents: read$/m.test(text)) {
    found.push(`${path}: say "permissions: contents: read"`)
  }
  return found
}

/** Paths in backticks of the form `folder/…` that do not exist. */
export function pathViolations(
  document: string,
  text: string,
  folders: readonly string[],
  exists: (path: string) => boolean,
): string[] {
  const named = [...text.matchAll(/`([a-z]+\/[\w./-]*)`/g)].map(([, path = '']) => path)
  return named
    .filter((path) => folders.includes(path.split('/')[0]!))
    .filter((path) => !exists(path))
    .map((path) => `${document}: names ${path}, which does not exist`)
}

/** The cells of the table under a header row that starts with `first`; backticks removed. */
export function tableRows(text: string, first: string): string[][] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => new RegExp(`^\\| ${first} +\\|`).test(line))
  if (start === -1) return []
  const rest = lines.slice(start + 2)
  const end = rest.findIndex((line) => !line.startsWith('|'))
  return rest.slice(0, end === -1 ? rest.length : end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}
