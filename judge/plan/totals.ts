// Sums up the answers that differ, over all scenarios.
import { formatName } from '#dns/name.ts'
import type { Differences } from '#judge/rows/names.ts'
import type { AnswerChange, PlanSummary } from '#judge/document/model.ts'
import { sentElsewhere } from './sent-elsewhere.ts'

export class Totals {
  /** Names with an answer that differs. */
  readonly names = new Set<string>()
  readonly #answers = new Set<string>()
  readonly #removedAnswers = new Set<string>()
  #movedMax = 0
  #movedMaxName = ''
  #movedMaxError = 0

  add(change: AnswerChange): void {
    const { name, type, kind, movement } = change
    const answer = `${name} ${type}`
    this.names.add(name)
    this.#answers.add(answer)
    if (kind === 'removed') this.#removedAnswers.add(answer)
    // An answer that becomes empty sends nobody elsewhere: guardrails and the headline count it
    // apart.
    if (movement === null || kind !== 'changed') return
    for (const family of [movement.ipv4, movement.ipv6]) {
      const moved = sentElsewhere(family)
      const { error } = family
      if (moved > this.#movedMax) {
        this.#movedMax = moved
        this.#movedMaxName = name
        this.#movedMaxError = error
      } else if (moved === this.#movedMax && (moved === 0 || name === this.#movedMaxName)) {
        this.#movedMaxError = Math.max(this.#movedMaxError, error)
      }
    }
  }

  summary({ names: differing, compared }: Differences, laterChanges: number): PlanSummary {
    let [addedNames, removedNames] = [0, 0]
    for (const { qname, base, head } of differing) {
      if (base >= 0 === head >= 0 || !this.names.has(formatName(qname))) continue
      if (base < 0) addedNames++
      else removedNames++
    }
    return {
      names: this.names.size,
      answers: this.#answers.size,
      addedNames,
      removedNames,
      removedAnswers: this.#removedAnswers.size,
      comparedNames: compared,
      movedMax: this.#movedMax,
      movedMaxName: this.#movedMaxName,
      movedMaxError: this.#movedMaxError,
      laterChanges,
    }
  }
}
