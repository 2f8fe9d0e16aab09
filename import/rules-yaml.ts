// Prints response rules as YAML of kind ResponsePolicy, in files that the compiler accepts.
import { apiVersion } from '#schemas/objects/metadata.ts'
import type { ImportedRule } from '#import/sources/imported.ts'

/** A file may have 350,000 keys, values and indicators; a rule has up to 20. */
const rulesPerFileMax = 15_000

interface RulesFile {
  readonly name: string
  readonly text: string
  readonly rules: number
}

/** @param source label of all files, and name of the first file's policy */
export function rulesFiles(source: string, rules: readonly ImportedRule[]): RulesFile[] {
  const files: RulesFile[] = []
  for (let at = 0; at < rules.length; at += rulesPerFileMax) {
    const some = rules.slice(at, at + rulesPerFileMax)
    const number = files.length + 1
    const name = number === 1 ? source : `${source}-${number}`
    const lines = [
      `apiVersion: ${apiVersion}`,
      'kind: ResponsePolicy',
      `metadata: { name: ${JSON.stringify(name)} }`,
      'spec:',
      `  source: ${JSON.stringify(source)}`,
      '  rules:',
      ...some.map(ruleText),
    ]
    files.push({ name, text: `${lines.join('\n')}\n`, rules: some.length })
  }
  return files
}

function ruleText({ triggerType, triggerValue, action, actionTarget }: ImportedRule): string {
  const target = actionTarget === '' ? '' : `, actionTarget: ${scalar(actionTarget)}`
  const trigger = `triggerType: ${triggerType}, triggerValue: ${scalar(triggerValue)}`
  return `    - { ${trigger}, action: ${action}${target} }`
}

/** With a dot and a letter before it, a scalar is a text to every reader of YAML. */
const plain = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+$/

function scalar(name: string): string {
  const text = name.replace(/\.$/, '')
  return plain.test(text) ? text : JSON.stringify(text)
}
