// Implements GitHub, and forges with its API: comments of issues, statuses of commits.
import { listAt, numberAt, textAt } from '#cli/watch/json-fields.ts'
import { ok } from '#lib/result.ts'
import { bodyAt } from './body-at.ts'
import type { Forge } from './forge.ts'
import { findComment } from './pages.ts'

/** GitHub's suffix of the workflow token's account and of other bots. */
const isOwn = (author: string): boolean => author.endsWith('[bot]')

export const github: Forge = {
  apiUrl: 'https://api.github.com',
  headers: (token) => ({
    authorization: `Bearer ${token}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  }),
  async comment(call, { repository }, number, body) {
    const list = `/repos/${repository}/issues/${number}/comments`
    const found = await findComment(
      call,
      `${list}?sort=created`,
      (row) => {
        const id = numberAt(row, 'id')
        const author = textAt(row, 'user', 'login')
        return id === null ? null : { id, author, body: bodyAt(row) }
      },
      isOwn,
    )
    if (!found.ok) return found
    if (found.value === null) return call('POST', list, { body })
    return call('PATCH', `/repos/${repository}/issues/comments/${found.value}`, { body })
  },
  status: (call, { repository, commit, detailsUrl }, { state, verdict }) =>
    call('POST', `/repos/${repository}/statuses/${commit}`, {
      ...{ state, context: 'gslbd', description: verdict.slice(0, 140) },
      ...(detailsUrl === '' ? {} : { target_url: detailsUrl }),
    }),
  async find(call, { repository, commit }, head) {
    const query = `state=open&head=${encodeURIComponent(head)}`
    const listed = await call('GET', `/repos/${repository}/pulls?${query}`)
    if (!listed.ok) return listed
    const own = listAt({ listed: listed.value }, 'listed').find(
      (row) => textAt(row, 'head', 'sha') === commit,
    )
    return ok(own === undefined ? null : numberAt(own, 'number'))
  },
}
