// Prints what the checks have found, for a person or for a program.
import { columns } from '#cli/terminal/paint.ts'
import type { Cell, Paint, Tone } from '#cli/terminal/paint.ts'
import type { Finding, Verdict } from './check.ts'

export interface Named extends Finding {
  readonly check: string
}

const toneOf: Readonly<Record<Verdict, Tone>> = {
  good: 'good',
  warning: 'warning',
  bad: 'bad',
  unknown: 'quiet',
}

export function printFindings(findings: readonly Named[], paint: Paint): string {
  let last = ''
  const rows = findings.flatMap(({ check, verdict, found, todo }): (string | Cell)[][] => {
    const title: Cell = { text: check === last ? '' : check, tone: 'strong' }
    last = check
    const row = [title, { text: verdict, tone: toneOf[verdict] }, found]
    return todo === undefined ? [row] : [row, ['', '', { text: `  ${todo}`, tone: 'strong' }]]
  })
  const count = (verdict: Verdict): number =>
    findings.filter((finding) => finding.verdict === verdict).length
  const sum = `${count('bad')} bad, ${count('warning')} warnings, ${count('unknown')} unknown`
  return `${columns(rows, paint).join('\n')}\n\n${sum}\n`
}
