// Defines the JSON of a response rule, as the API shows and accepts it.
import { Type } from '#lib/schema/type.ts'
import type { Static } from '#lib/schema/type.ts'
import { checkHostName } from '#compiler/values/names.ts'
import { partsIn } from '#config/entry.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { PartOf } from '#config/parts.ts'
import { ResponsePolicySpec, ResponseRule as RuleInFile } from '#schemas/objects/response-policy.ts'
import { closed } from '#http/shapes.ts'
import { defaulted, plain } from './fields.ts'

const { triggerType, triggerValue, action, actionTarget, signed } = RuleInFile.properties

export const ResponseRule = Type.Object(
  {
    id: Type.String(),
    triggerType: Type.String(),
    triggerValue: Type.String({ description: 'Lower case, without the trailing dot' }),
    action: Type.String(),
    actionTarget: Type.String({ description: 'Of `cname`; otherwise empty' }),
    signed: Type.Boolean({ description: 'Its answers in a signed zone of ours are signed' }),
    source: Type.String(),
    hitCount: Type.Integer({
      description: 'Questions that it answered or let pass, on all nodes; a restart loses a few',
    }),
  },
  { title: 'RPZRule' },
)

/** Label of rules without a stated origin. */
export const sourceDefault = 'local'

export const NewResponseRule = closed({
  triggerType: plain(triggerType),
  triggerValue: plain(triggerValue, { examples: ['bad.example'] }),
  action: plain(action),
  actionTarget: defaulted(actionTarget),
  signed: defaulted(signed),
  source: defaulted(ResponsePolicySpec.properties.source, { default: sourceDefault }),
})
export type NewResponseRule = Static<typeof NewResponseRule>

type Policy = ConfigEntry<'ResponsePolicy'>

/** A row of the list. */
interface RuleRow {
  readonly owner: Policy
  readonly part: PartOf['ResponseRule'] & { readonly uid: string }
  readonly uid: string
}

export function sourceOf({ name, object }: Policy): string {
  return object.spec.source ?? name
}

const rowsOf = new WeakMap<readonly Policy[], readonly RuleRow[]>()

/**
 * Ordered by the names of policies and of their files.
 *
 * @param policies the same array as long as none of them changes
 */
export function ruleRows(policies: readonly Policy[]): readonly RuleRow[] {
  let rows = rowsOf.get(policies)
  if (rows === undefined) {
    rows = policies.flatMap((owner) =>
      partsIn('ResponseRule', owner).map((part) => ({ owner, part, uid: part.uid })),
    )
    rowsOf.set(policies, rows)
  }
  return rows
}

export function showRule({ owner, part }: Omit<RuleRow, 'uid'>, hitCount: number) {
  const { uid, action: does } = part
  return {
    id: uid,
    triggerType: part.triggerType,
    triggerValue: plainName(part.triggerValue),
    action: does,
    actionTarget: does === 'cname' ? plainName(part.actionTarget) : '',
    signed: part.signed,
    source: sourceOf(owner),
    hitCount,
  }
}

/** The content of the file of a new rule, without a target that has no effect. */
export function specOfNewRule(rule: NewResponseRule) {
  const { triggerType: type, triggerValue: value, action: does, actionTarget: target = '' } = rule
  return {
    triggerType: type,
    triggerValue: plainName(value),
    action: does,
    ...(does === 'cname' ? { actionTarget: plainName(target) } : {}),
    ...(rule.signed === true ? { signed: true } : {}),
  }
}

/** Text that is no name is left as it is: the compiler explains it. */
function plainName(text: string): string {
  const key = checkHostName(text).key ?? text
  return key === '.' ? key : key.replace(/\.$/, '')
}
