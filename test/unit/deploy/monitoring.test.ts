// Alert rules and Grafana boards under deploy/ ask only for metrics and labels that there are.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { metricRows } from '#metrics/table.ts'

const deploy = join(import.meta.dirname, '../../../deploy')
const boards = readdirSync(join(deploy, 'grafana'))
const read = (...path: string[]): string => readFileSync(join(deploy, ...path), 'utf8')

/** Labels that Prometheus and the runtime add to every series. */
const common = ['instance', 'job', 'le']

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string; readonly todo: string }
}
const { groups } = parse(read('prometheus', 'alerts.yaml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

interface Board {
  readonly uid: string
  readonly panels: {
    readonly id: number
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; h: number }
    readonly targets: { readonly expr: string; readonly refId: string }[]
  }[]
  readonly templating: { readonly list: { readonly query: string }[] }
}

const closed = (required: object, optional: object = {}) => ({
  ...{ type: 'object', additionalProperties: false, required: Object.keys(required) },
  properties: { ...required, ...optional },
})
const text = { type: 'string', minLength: 1 }
const whole = { type: 'integer', minimum: 0 }
const source = closed({ type: { const: 'prometheus' }, uid: { const: '${datasource}' } })

/** The parts of Grafana's model of a dashboard, version 39, that the boards use. */
const boardSchema = closed({
  ...{ uid: { pattern: '^gslbd-[a-z]+$' }, title: { pattern: '^gslbd: ' } },
  ...{ tags: { type: 'array', items: text }, schemaVersion: { const: 39 } },
  ...{ editable: { type: 'boolean' }, refresh: { pattern: '^[0-9]+[smh]$' } },
  time: closed({ from: { pattern: '^now-' }, to: { const: 'now' } }),
  templating: closed({
    list: {
      type: 'array',
      items: {
        oneOf: [
          closed({
            ...{ name: { const: 'datasource' }, type: { const: 'datasource' }, label: text },
            query: { const: 'prometheus' },
          }),
          closed({
            ...{ name: text, type: { const: 'query' }, label: text, datasource: source },
            query: { pattern: '^label_values\\([a-z_]+, [a-z_]+\\)$' },
            ...{ refresh: { enum: [1, 2] }, multi: { const: false } },
            includeAll: { const: false },
          }),
        ],
      },
    },
  }),
  panels: {
    type: 'array',
    minItems: 4,
    items: closed({
      ...{ id: { type: 'integer', minimum: 1 }, type: { const: 'timeseries' }, title: text },
      ...{ datasource: source, gridPos: closed({ h: whole, w: whole, x: whole, y: whole }) },
      fieldConfig: { type: 'object' },
      targets: {
        type: 'array',
        minItems: 1,
        items: closed(
          { refId: { pattern: '^[A-Z]$' }, expr: text, legendFormat: text },
          { datasource: source, exemplar: { const: true } },
        ),
      },
    }),
  },
})
const checkBoard = new Ajv({ strict: false, allErrors: true }).compile(boardSchema)
const boardOf = (file: string): Board => JSON.parse(read('grafana', file)) as Board

/** Names of ours in an expression, and labels in its selectors, that no row of the table has. */
function unknownIn(expr: string): string[] {
  const known = new Map(metricRows.map(({ name, labels }) => [name, [...labels, ...common]]))
  return [...expr.matchAll(/\b(gslbd_\w+)(?:\{([^}]*)\})?/g)].flatMap(
    ([, full = '', selector = '']) => {
      const labels = known.get(full) ?? known.get(full.replace(/_(bucket|sum|count)$/, ''))
      if (labels === undefined) return [full]
      const asked = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
      return asked.filter((label) => !labels.includes(label)).map((label) => `${full}{${label}}`)
    },
  )
}

test('a name or a label that is not there is found', () => {
  expect(unknownIn('rate(gslbd_nothing_total[5m])')).toEqual(['gslbd_nothing_total'])
  expect(unknownIn('gslbd_members{state="up"}')).toEqual(['gslbd_members{state}'])
  expect(unknownIn('rate(gslbd_dns_answer_seconds_bucket{instance="a"}[5m])')).toEqual([])
})

describe('alert rules', () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))('%s', (_name, rule) => {
    expect(unknownIn(rule.expr)).toEqual([])
    expect(rule.annotations.summary).not.toBe('')
    expect(rule.annotations.todo).not.toBe('')
  })

  test('each has a case that shows when it fires', () => {
    const cases = parse(read('prometheus', 'alerts.test.yaml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[]
    }
    const shown = cases.tests
      .flatMap((one) => one.alert_rule_test)
      .filter((one) => one.exp_alerts !== undefined)
      .map(({ alertname }) => alertname)
    expect(shown.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
  })
})

describe('boards', () => {
  test.each(boards)('%s', (file) => {
    const { uid, panels, templating } = boardOf(file)
    expect(`${uid}.json`).toBe(file)
    expect(checkBoard(boardOf(file)), JSON.stringify(checkBoard.errors)).toBe(true)
    // Each panel, and each line of one, is there once, and none lies over another.
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { targets } of panels) {
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
    }
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24)
    const asked = [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...templating.list.map(({ query }) => query),
    ]
    expect(asked.flatMap(unknownIn)).toEqual([])
  })
})
