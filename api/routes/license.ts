// /api/v1/license: the licence of the installation, and its token.
import { Type } from '#lib/schema/type.ts'
import { License } from '#licence/state.ts'
import { tokenLimits } from '#licence/token.ts'
import { invalid, success } from '#http/reply.ts'
import { routesOf } from '#api/route/route.ts'
import { closed } from '#http/shapes.ts'
import { storeAway, storeFailed } from '#http/store-reply.ts'

const route = routesOf({ tag: 'Licence', withoutConfig: true })

const get = route('GET /api/v1/license', {
  needs: 'license:read',
  summary: 'The licence of the installation, and why it is as it is',
  responses: { 200: { description: 'The licence', schema: License } },
  ports: ['licenceAdmin'],
  handle: async ({ ports }) => success(await ports.licenceAdmin.current()),
})

const apply = route('POST /api/v1/license', {
  needs: 'license:write',
  summary: 'Apply a licence token: checked, kept for all nodes, in force at once',
  body: closed({ token: Type.String({ minLength: 1, maxLength: tokenLimits.charactersMax }) }),
  responses: { 200: { description: 'The licence as it is now', schema: License } },
  ports: ['licenceAdmin'],
  handle: async ({ ports, body: { token } }) => {
    const applied = await ports.licenceAdmin.apply(token)
    if (applied.ok) return success(applied.value)
    const { code, message } = applied.error
    if (code === 'starting') return storeFailed({ code: 'store-starting', message })
    return code === 'token' ? invalid('token', message) : storeAway(message)
  },
})

export const licenseRoutes = Object.freeze([get, apply])
