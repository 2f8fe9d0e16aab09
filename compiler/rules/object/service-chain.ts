// The chain of a service names filters that exist, each of which can do something.
import { suggest } from '#lib/suggest.ts'
import { filterNamed, filters } from '#routing/choose/filters.ts'
import type { FilterUse } from '#routing/choose/filters.ts'
import { scriptLimits } from '#routing/script/contract.ts'
import { algorithms } from '#schemas/objects/service.ts'
import { valueAt } from '#compiler/diagnostics/diagnostic.ts'
import type { Report } from '#compiler/diagnostics/finding.ts'
import type { ObjectRule } from './object-rule.ts'
import { scriptMistake } from '#compiler/values/script-syntax.ts'

const scriptName = 'script'
/** Leaves one member, though document B counts it among the narrowing filters. */
const singling: readonly string[] = ['sticky', 'sticky-weighted']

export const serviceChain: ObjectRule<'Service'> = {
  name: 'service-chain',
  kind: 'Service',
  check({ spec }, report) {
    const { algorithm, filterChain, answerCount } = spec
    checkAlgorithm(algorithm, filterChain.length > 0, report)
    const uses = filterChain.map((text, i) => useOf(text, i, report))
    const last = uses.findIndex((use) => use !== undefined && endsChoice(use))
    for (const [i, use] of uses.entries()) {
      if (last < 0 || i <= last || use === undefined) continue
      const args = [use.filter.name, uses[last]!.filter.name]
      report('filter-unreachable', valueAt('spec', 'filterChain', i), { args })
    }
    const single = uses.find((use) => use !== undefined && singling.includes(use.filter.name))
    if (single !== undefined && answerCount > 1) {
      const args = [String(answerCount), single.filter.name]
      report('answer-count-of-one', valueAt('spec', 'answerCount'), { args })
    }
  },
}

function checkAlgorithm(algorithm: string, hasChain: boolean, report: Report): void {
  const place = valueAt('spec', 'algorithm')
  if (!hasChain && algorithm === '') report('algorithm-empty', place)
  // The default may come from the schema: saying that it has no effect helps nobody.
  if (!hasChain || algorithm === '' || algorithm === algorithms[0]) return
  report('algorithm-ignored', place, { args: [algorithm] })
}

function endsChoice({ filter: { kind, name } }: FilterUse): boolean {
  return kind === 'selecting' || singling.includes(name)
}

function useOf(text: string, index: number, report: Report): FilterUse | undefined {
  const place = valueAt('spec', 'filterChain', index)
  const [name = ''] = text.split(':', 1)
  const use = filterNamed(text)
  if (name === scriptName) {
    const body = use?.argument ?? ''
    if (body.trim() === '') {
      report('script-empty', place)
      return undefined
    }
    const mistake = scriptMistake(body)
    if (mistake !== undefined) {
      const { character: at, message } = mistake
      const character = at === undefined ? undefined : text.length - body.length + at
      report('script-syntax', { ...place, character }, { args: [message] })
    }
    const { bodyLengthInTime } = scriptLimits
    if (body.length > bodyLengthInTime) {
      report('script-long', place, { args: [String(body.length), String(bodyLengthInTime)] })
    }
    return use
  }
  if (use !== undefined) return use
  if (filterNamed(name) !== undefined) {
    report('filter-argument', place, { args: [name, name] })
    return undefined
  }
  const known = filters.flatMap((filter) => [filter.name, ...filter.aliases])
  const names = filters.map((filter) => (filter.name === scriptName ? 'script:BODY' : filter.name))
  report('filter-unknown', place, {
    args: [name, names.join(', ')],
    suggestion: suggest(name, known),
  })
  return undefined
}
