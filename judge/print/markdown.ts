// Prints a plan as a comment on a pull request: a title with the verdict, a table, and folded
// details.
import type { AnswerChange, Plan, PlannedScenario } from '#judge/document/model.ts'
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

const rowsMax = 50
const detailsMax = 20
const membersMax = 20
const placesMax = 10
/** Hosting services cut comments at 65,536 characters. */
const lengthMax = 60_000

export function printPlanMarkdown(plan: Plan): string {
  const { base, head, weights, scenarios, later, warnings } = plan
  const parts = [
    `### ${escaped(verdict(plan))}`,
    `From ${code(revisionText(base))} to ${code(revisionText(head))}.`,
    ...(weightText(weights) === '' ? [] : [`${escaped(weightText(weights))}.`]),
  ]
  let before: PlannedScenario | null = null
  for (const scenario of scenarios) {
    if (scenarios.length > 1) parts.push(`**At ${scenarioText(scenario)}**`)
    if (isAlike(scenario, before)) parts.push('The same.')
    else parts.push(...scenarioParts(scenario))
    before = scenario
  }
  if (later.length > 0) {
    const rows = later
      .slice(0, rowsMax)
      .map(
        ({ subject, what, nameCount }) =>
          `- ${escaped(`${subject}: ${what}`)} (${plural(nameCount, 'name')})`,
      )
    const more = later.length - rowsMax
    const rest = more > 0 ? [`- … and ${counted(more)} more`] : []
    const list = [...rows, ...rest].join('\n')
    parts.push(`**May differ later, or when members are down**\n\n${list}`)
  }
  for (const sentence of warnings) parts.push(`> ⚠️ ${escaped(sentence)}`)
  return `${withinLength(parts).join('\n\n')}\n`
}

/** Leaves out whole parts that do not fit. */
function withinLength(parts: readonly string[]): readonly string[] {
  const kept: string[] = []
  let length = 0
  for (const part of parts) {
    length += part.length + 2
    if (length > lengthMax) return [...kept, 'There is more: see `gslbd plan`.']
    kept.push(part)
  }
  return kept
}

function scenarioParts(scenario: PlannedScenario): readonly string[] {
  const { changes, omitted } = scenario
  if (changes.length === 0) return []
  const rows = changes
    .slice(0, rowsMax)
    .map((change) => `| ${code(change.name)} | ${change.type} | ${escaped(movedOf(change))} |`)
  const more = Math.max(0, changes.length - rowsMax) + omitted
  const rest = more > 0 ? [`… and ${plural(more, 'more answer')}.`] : []
  const table = ['| Name | Type | Effect |', '| --- | --- | --- |', ...rows].join('\n')
  const countries = countriesOf(scenario, placesMax)
  return [
    ...[table, ...rest],
    ...(countries === '' ? [] : [`${countriesTitle}: ${escaped(countries)}`]),
    ...trafficParts(scenario),
    ...changes.slice(0, detailsMax).map(detailsOf),
  ]
}

function trafficParts(scenario: PlannedScenario): readonly string[] {
  const traffic = trafficTable(scenario, membersMax)
  if (traffic === null) return []
  const rows = traffic.rows.map(
    ([member, before, after]) => `| ${code(member)} | ${before} | ${after} |`,
  )
  const head = [`| ${traffic.title} | before | after |`, '| --- | --: | --: |']
  return [[...head, ...rows, ...moreMembers(traffic.more)].join('\n')]
}

function detailsOf(change: AnswerChange): string {
  const { name, type, movement } = change
  const lines = [`<details><summary>${code(name)} ${type}</summary>`, '']
  const records = recordLines(change)
  if (records.length > 0) lines.push('```diff', ...records.map(plainLine), '```', '')
  if (movement !== null) {
    const { members } = movement.ipv4
    lines.push('| Clients go to | before | after |', '| --- | --: | --: |')
    for (const member of members.slice(0, membersMax)) {
      const { before, after } = member
      lines.push(`| ${code(endpointText(member))} | ${percent(before)} | ${percent(after)} |`)
    }
    lines.push(...moreMembers(members.length - membersMax), '')
    for (const [title, list] of placesOf(movement.ipv4, placesMax)) {
      lines.push(`${title}: ${escaped(list)}`, '')
    }
  }
  return [...lines, '</details>'].join('\n')
}

const moreMembers = (count: number): readonly string[] =>
  count > 0 ? [`| … and ${counted(count)} more | | |`] : []

/** Escapes names, texts and organisations, so that none is markup, a link or a mention. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\r\n]+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_{}[\]()#|@~!]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

function code(text: string): string {
  return `<code>${escaped(text)}</code>`
}

/** Keeps a line from ending its code block. */
function plainLine(line: string): string {
  return line.replaceAll(/[\r\n]+/g, ' ').replaceAll('```', "'''")
}
