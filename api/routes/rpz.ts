// /api/v1/rpz/rules: response rules, which apply to the names of all tenants.
import { Type } from '#lib/schema/type.ts'
import type { ConfigEntry } from '#config/entry.ts'
import type { CreatePart } from '#config/operation.ts'
import { rulesPerPolicyMax } from '#schemas/objects/response-policy.ts'
import { objectRoutes } from '#api/config/object-routes.ts'
import { Paging, pageInOrder } from '#http/paging.ts'
import {
  NewResponseRule,
  ResponseRule,
  ruleRows,
  showRule,
  sourceOf,
  sourceDefault,
  specOfNewRule,
} from '../resources/response-rule.ts'
import type { RouteContext } from '#api/route/route.ts'

const rules = objectRoutes({
  kind: 'ResponseRule',
  path: '/api/v1/rpz/rules',
  tag: 'Response rules',
  noun: 'rule',
  absent: 'response rule',
  isCommon: true,
  reads: 'rpz:read',
  writes: 'rpz:write',
  schema: ResponseRule,
  show: (_, { owner, part }) =>
    showRule({ owner: owner as ConfigEntry<'ResponsePolicy'>, part }, 0),
})

/** Policies belong to no tenant: a caller with the permission sees all. */
const policiesOf = ({ ports }: Pick<RouteContext<'config'>, 'ports'>) =>
  ports.config.snapshot().list('ResponsePolicy')

const list = rules.route('GET /api/v1/rpz/rules', {
  needs: 'rpz:read',
  summary: 'All response rules, in the order of their files, with their hits on all nodes',
  details:
    'An exact rule goes before every domain rule; of those the deepest one wins. Every node adds ' +
    'its hits at least each five seconds; those of the node that answers are in at once.',
  query: Paging,
  responses: { 200: { description: 'Response rules', schema: Type.Array(ResponseRule) } },
  ports: ['config', 'responseHits'],
  handle: async (context) => {
    const hits = await context.ports.responseHits()
    return pageInOrder(ruleRows(policiesOf(context)), context.query, (row) =>
      showRule(row, hits.get(row.uid) ?? 0),
    )
  },
})

const create = rules.create({
  licensed: 'response-policy',
  summary: 'Add a response rule (tier pro)',
  details:
    'It goes into a policy of its source, which is made when there is none. `actionTarget` is ' +
    'required for `cname`, and left out otherwise. There is no change of a rule: delete it, and ' +
    'add another.',
  body: NewResponseRule,
  ports: ['config'],
  operation: (context) => ({
    verb: 'create',
    kind: 'ResponseRule',
    ...policyFor(policiesOf(context), context.body.source ?? sourceDefault),
    spec: specOfNewRule(context.body),
  }),
})

/** The first policy of that source with room for a rule, or a new one. */
function policyFor(
  policies: readonly ConfigEntry<'ResponsePolicy'>[],
  source: string,
): Pick<CreatePart, 'owner' | 'ownerSpec'> {
  const found = policies.find(
    (one) => sourceOf(one) === source && one.object.spec.rules.length < rulesPerPolicyMax,
  )
  if (found !== undefined) return { owner: { uid: found.uid } }
  const names = new Set(policies.map(({ name }) => name))
  let name = source
  for (let n = 2; names.has(name); n++) name = `${source}-${n}`
  return { owner: { tenant: '', name }, ownerSpec: name === source ? {} : { source } }
}

const removeRule = rules.remove({
  summary: 'Delete a response rule; a policy goes with its last one',
})

export const responseRuleRoutes = Object.freeze([list, create, removeRule])
