// Prints a plan for a terminal: shares with bars, in colour where that is wanted.
import type { AnswerChange, FamilyMovement, Plan, PlannedScenario } from '#judge/document/model.ts'
import {
  counted,
  countriesOf,
  countriesTitle,
  endpointText,
  movedOf,
  isAlike,
  percent,
  placesOf,
  plural,
  recordLines,
  scenarioText,
  revisionText,
  trafficTable,
  verdict,
  weightText,
} from './phrases.ts'

interface TextOptions {
  /** Colours a text, or returns it unchanged. */
  readonly style: Style
  /** How many answers of a scenario are shown. */
  readonly answersMax: number
}

const flowsMax = 10
const membersMax = 20
const placesMax = 8
const barWidth = 20

type Format = 'bold' | 'red' | 'green' | 'yellow' | 'cyan'
export type Style = (format: Format, text: string) => string

export function printPlan(plan: Plan, { style, answersMax }: TextOptions): string {
  const { base, head, weights, scenarios, later, warnings } = plan
  const lines = [
    `base  ${revisionText(base)}`,
    `head  ${revisionText(head)}`,
    ...(weightText(weights) === '' ? [] : [weightText(weights)]),
    '',
    style('bold', verdict(plan)),
  ]
  let before: PlannedScenario | null = null
  for (const scenario of scenarios) {
    if (scenarios.length > 1) lines.push('', style('cyan', `at ${scenarioText(scenario)}`))
    const isEmpty = scenarios.length > 1 && scenario.changes.length === 0
    if (isAlike(scenario, before)) lines.push('  the same')
    else if (isEmpty) lines.push('  no answer differs')
    else lines.push(...scenarioLines(scenario, answersMax, style))
    before = scenario
  }
  if (later.length > 0)
    lines.push('', style('bold', 'Answers may differ later, or when members are down:'))
  for (const { subject, tenant, what, names, nameCount } of later) {
    const whose = tenant === '' || tenant === 'default' ? '' : ` of ${tenant}`
    const first = names.slice(0, 3).join(', ')
    const more = nameCount > 3 ? ` and ${counted(nameCount - 3)} more` : ''
    lines.push(`  ${subject}${whose}: ${what}${first === '' ? '' : ` (${first}${more})`}`)
  }
  for (const sentence of warnings) lines.push('', style('yellow', `warning: ${sentence}`))
  return `${lines.join('\n')}\n`
}

function scenarioLines(
  scenario: PlannedScenario,
  answersMax: number,
  style: Style,
): readonly string[] {
  const { changes, omitted } = scenario
  const lines = changes
    .slice(0, answersMax)
    .flatMap((change) => ['', ...changeLines(change, style)])
  const more = Math.max(0, changes.length - answersMax) + omitted
  const where =
    omitted === 0
      ? '--limit N shows them, --format json all'
      : `the plan lists ${plural(changes.length, 'answer')}, of which most clients move`
  if (more > 0) lines.push('', `… and ${counted(more)} more: ${where}`)
  const countries = countriesOf(scenario, placesMax)
  if (countries !== '') lines.push('', style('bold', `${countriesTitle}:`), `  ${countries}`)
  return [...lines, ...trafficLines(scenario, style)]
}

function trafficLines(scenario: PlannedScenario, style: Style): readonly string[] {
  const traffic = trafficTable(scenario, membersMax)
  if (traffic === null) return []
  const { title, rows, more } = traffic
  const width = Math.max(...rows.map(([member]) => member.length))
  return [
    '',
    style('bold', `${title}:`),
    ...rows.map(
      ([member, before, after]) =>
        `  ${member.padEnd(width)}  ${before.padStart(8)} → ${after.padStart(8)}`,
    ),
    ...(more > 0 ? [`  … ${plural(more, 'more member')}`] : []),
  ]
}

const colourOf = { added: 'green', removed: 'red', changed: 'yellow' } as const

function changeLines(change: AnswerChange, style: Style): readonly string[] {
  const { name, type, kind, tenant, movement } = change
  const whose = tenant === '' || tenant === 'default' ? '' : ` of ${tenant}`
  const title = style('bold', `${name} ${type}`) + whose
  const lines = [`${title}  ${style(colourOf[kind], movedOf(change))}`]
  for (const line of recordLines(change)) {
    lines.push(`  ${style(line.startsWith('-') ? 'red' : 'green', line)}`)
  }
  if (movement === null) return lines
  const { ipv4, ipv6 } = movement
  lines.push(...familyLines(ipv4, style))
  if (withoutPlaces(ipv4, style) !== withoutPlaces(ipv6, style) && ipv6.differs > 0)
    lines.push('  IPv6', ...familyLines(ipv6, style))
  return lines
}

/** A key that is equal for movements that print alike: last digits of sums are not printed. */
function withoutPlaces(movement: FamilyMovement, style: Style): string {
  return familyLines({ ...movement, countries: null, operators: null }, style).join('\n')
}

function familyLines(movement: FamilyMovement, style: Style): readonly string[] {
  const { members, flows } = movement
  const shown = members.slice(0, membersMax)
  const width = Math.max(0, ...shown.map((member) => endpointText(member).length))
  const lines = shown.map((member) => {
    const { before, after } = member
    const words = endpointText(member).padEnd(width)
    const shares = `${percent(before).padStart(8)} → ${percent(after).padStart(8)}`
    return `  ${words}  ${shares}  ${bar(before, after, style)}`
  })
  if (members.length > membersMax)
    lines.push(`  … ${plural(members.length - membersMax, 'more member')}`)
  for (const { from, to, share } of flows.slice(0, flowsMax)) {
    const words = `${endpointText(from)} → ${endpointText(to)}`
    lines.push(`  ${percent(share).padStart(8)}  ${words}`)
  }
  const moreFlows = flows.length - flowsMax
  if (moreFlows > 0) {
    lines.push(`  … ${plural(moreFlows, 'more way to move', 'more ways to move')}`)
  }
  for (const [title, list] of placesOf(movement, placesMax)) {
    lines.push(`  ${title.toLowerCase()}  ${list}`)
  }
  return lines
}

/** Draws the parts that stay, go and come. */
function bar(before: number, after: number, style: Style): string {
  const [was, is] = [before, after].map((share) => Math.round(share * barWidth)) as [number, number]
  const kept = '█'.repeat(Math.min(was, is))
  const gone = style('red', '░'.repeat(Math.max(0, was - is)))
  const come = style('green', '▓'.repeat(Math.max(0, is - was)))
  return kept + gone + come
}
