// Prints a plan as one HTML file that loads nothing else.
import type { AnswerChange, FamilyMovement, Plan, PlannedScenario } from '#judge/document/model.ts'
import { code, escaped } from './escaped.ts'
import { mapPart, mapShapes, mapStyle } from './world-map.ts'
import {
  counted,
  endpointText,
  movedOf,
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

const changesMax = 1_000
const membersMax = 50
const placesMax = 30

const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'"
const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse } th { text-align: left }
td, th { padding: .15rem .8rem .15rem 0; vertical-align: top } .n { text-align: right }
pre { background: #8881; padding: .5rem; overflow-x: auto } .warning { color: #b45309 }
summary { cursor: pointer } .bar { display: inline-block; height: .7rem; background: #2563eb }
.was { background: #94a3b8 } details { margin: .4rem 0 }
:root { color-scheme: light dark }${mapStyle}`

export function printPlanHtml(plan: Plan): string {
  const { base, head, weights, scenarios, later, warnings } = plan
  const title = escaped(verdict(plan))
  const parts = [
    `<h1>${title}</h1>`,
    `<p>From ${code(revisionText(base))} to ${code(revisionText(head))}</p>`,
    ...(weightText(weights) === '' ? [] : [`<p>${escaped(weightText(weights))}</p>`]),
    mapShapes(plan),
    ...warnings.map((sentence) => `<p class="warning">${escaped(sentence)}</p>`),
    ...scenarios.flatMap(scenarioParts),
    ...(later.length === 0 ? [] : ['<h2>May differ later, or when members are down</h2>', '<ul>']),
    ...later.map(({ subject, what, names, nameCount }) => {
      const some =
        names.length === 0 ? '' : ` (${names.slice(0, 3).join(', ')}; ${counted(nameCount)} in all)`
      return `<li>${escaped(`${subject}: ${what}${some}`)}</li>`
    }),
    ...(later.length === 0 ? [] : ['</ul>']),
  ]
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    `<meta http-equiv="Content-Security-Policy" content="${contentPolicy}">`,
    `<title>${title}</title><style>${style}</style></head><body>`,
    ...parts,
    '</body></html>',
    '',
  ].join('\n')
}

const answersDiffer = (count: number): string =>
  `${plural(count, 'answer')} ${count === 1 ? 'differs' : 'differ'}`

function scenarioParts(scenario: PlannedScenario): readonly string[] {
  const { changes, omitted } = scenario
  const more = Math.max(0, changes.length - changesMax) + omitted
  return [
    `<h2>${escaped(scenarioText(scenario))}: ${answersDiffer(changes.length + omitted)}</h2>`,
    mapPart(scenario.countries),
    ...trafficParts(scenario),
    ...changes.slice(0, changesMax).map(changePart),
    ...(more > 0 ? [`<p>… and ${counted(more)} more</p>`] : []),
  ]
}

function trafficParts(scenario: PlannedScenario): readonly string[] {
  const traffic = trafficTable(scenario, membersMax)
  if (traffic === null) return []
  const rows = traffic.rows.map(
    ([member, before, after]) =>
      `<tr><td>${code(member)}</td><td class="n">${escaped(before)}</td>` +
      `<td class="n">${escaped(after)}</td></tr>`,
  )
  const head = `<tr><th>${escaped(traffic.title)}</th><th>before</th><th>after</th></tr>`
  return [`<table>${head}${rows.join('')}</table>${andMore(traffic.more, 'member')}`]
}

function andMore(more: number, word: string, words = `${word}s`): string {
  return more > 0 ? `<p>… and ${plural(more, `more ${word}`, `more ${words}`)}</p>` : ''
}

function changePart(change: AnswerChange): string {
  const { name, type, movement } = change
  const title = `<b>${code(name)} ${escaped(type)}</b> ${escaped(movedOf(change))}`
  const records = recordLines(change)
  const lines = records.length === 0 ? '' : `<pre>${escaped(records.join('\n'))}</pre>`
  const families =
    movement === null
      ? ''
      : `${familyPart('IPv4', movement.ipv4)}${familyPart('IPv6', movement.ipv6)}`
  return `<details><summary>${title}</summary>${lines}${families}</details>`
}

function familyPart(title: string, movement: FamilyMovement): string {
  const { members, flows } = movement
  const rows = members.slice(0, membersMax).map((member) => {
    const { before, after } = member
    return (
      `<tr><td>${code(endpointText(member))}</td>` +
      `<td class="n">${escaped(percent(before))}</td><td>${bar('bar was', before)}</td>` +
      `<td class="n">${escaped(percent(after))}</td><td>${bar('bar', after)}</td></tr>`
    )
  })
  const sides = '<th colspan="2">before</th><th colspan="2">after</th>'
  const head = `<tr><th>${title} clients go to</th>${sides}</tr>`
  const ways = flows.slice(0, membersMax).map(({ from, to, share }) => {
    const words = `${endpointText(from)} → ${endpointText(to)}`
    return `<tr><td class="n">${escaped(percent(share))}</td><td>${escaped(words)}</td></tr>`
  })
  const moreFlows = andMore(flows.length - membersMax, 'way to move', 'ways to move')
  return [
    `<table>${head}${rows.join('')}</table>${andMore(members.length - membersMax, 'member')}`,
    `<table>${ways.join('')}</table>${moreFlows}`,
    ...placesOf(movement, placesMax).map(([name, list]) => `<p>${name}: ${escaped(list)}</p>`),
  ].join('')
}

function bar(kind: string, share: number): string {
  return `<span class="${kind}" style="width:${(share * 10).toFixed(2)}rem"></span>`
}
