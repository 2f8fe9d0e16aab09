// Writes the comment on a pull request: the verdict, a table of steps, details folded, the plan.
import { judgedWithout } from '#judge/effects/unplaced.ts'
import { Exit } from '#system/process/command.ts'
import { printPlanMarkdown } from '#judge/print/markdown.ts'
import type { Review, StepResult } from './steps.ts'

/** First line of the comment, by which it is found again; it is invisible. */
export const commentMark = '<!-- gslbd-plan -->'

/** Forges cut comments at 65,536 characters. */
export const commentMax = 65_000
const detailsMax = 8_000
const summaryMax = 1_000

const signs: Readonly<Record<StepResult['state'], string>> = {
  passed: '✅',
  failed: '❌',
  skipped: '➖',
}

const hold = 'a node would hold this change'
const verdicts: Readonly<Partial<Record<Exit, string>>> = {
  [Exit.Ok]: 'a node would accept this change',
  [Exit.Usage]: 'this change cannot be judged',
  [Exit.Guardrail]: `${hold}: it is beyond a guardrail`,
  [Exit.Trust]: `${hold}: not every commit is signed`,
}

/** A node may have databases that this machine lacks, and so decide differently. */
export function verdictOf({ exit, steps }: Pick<Review, 'exit' | 'steps'>): string {
  const isBlind = steps.some(({ summary }) => summary.includes(judgedWithout))
  const verdict = verdicts[exit] ?? `${hold}: it has errors`
  return exit === Exit.Ok && isBlind ? `${verdict}, as far as can be told without places` : verdict
}

export function commentBody(review: Review): string {
  const { steps, exit, plan } = review
  const rows = steps.map(
    ({ name, state, summary }) => `| ${signs[state]} | ${name} | ${escaped(summary)} |`,
  )
  const parts = [
    commentMark,
    `## ${exit === Exit.Ok ? '✅' : '❌'} gslbd: ${verdictOf(review)}`,
    ['| | step | |', '| --- | --- | --- |', ...rows].join('\n'),
    ...steps.flatMap(({ name, details }) => (details === '' ? [] : [folded(name, details)])),
    ...(plan === null ? [] : [printPlanMarkdown(plan).trimEnd()]),
  ]
  const body = `${parts.join('\n\n')}\n`
  return body.length <= commentMax ? body : `${body.slice(0, commentMax)}\n\n… and more.\n`
}

/** Indented, so that nothing ends the block. */
function folded(name: string, details: string): string {
  const shown = details.slice(0, detailsMax).trimEnd()
  const more = details.length > detailsMax ? '\n… and more' : ''
  const lines = `${shown}${more}`.split('\n').map((line) => `    ${line}`)
  return `<details><summary>${name}</summary>\n\n${lines.join('\n')}\n\n</details>`
}

/** Escapes text of the change: no markup, no mention, one line. */
function escaped(text: string): string {
  return text
    .slice(0, summaryMax)
    .replaceAll(/[\\`*_{}[\]<>#|~]/g, (sign) => `\\${sign}`)
    .replaceAll('@', '@\u200b')
    .replaceAll(/\s+/g, ' ')
}
