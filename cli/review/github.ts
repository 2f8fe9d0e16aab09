// Implements GitHub, and forges with its API: comments of issues, statuses of commits.
import type { Forge } from './forge.ts'
import { findComment, findRequest } from './pages.ts'

/** GitHub's suffix of the workflow token's account and of other bots. */
const isOwn = (author: string): boolean => author.endsWith('[bot]')

export const github: Forge = {
  apiUrl: 'https://api.github.com',
  headers: (token) => ({
    authorization: `Bearer ${token}`,
    accept: 'application/vnd.github+json',
    'user-agent': 'gslbd',
    'x-github-api-version': '2022-11-28',
  }),
  async comment(call, { repository }, number, body) {
    const list = `/repos/${repository}/issues/${number}/comments`
    const found = await findComment(call, `${list}?sort=created`, ['user', 'login'], isOwn)
    if (!found.ok) return found
    if (found.value === null) return call('POST', list, { body })
    return call('PATCH', `/repos/${repository}/issues/comments/${found.value}`, { body })
  },
  status: (call, { repository, commit, detailsUrl }, { state, verdict }) =>
    call('POST', `/repos/${repository}/statuses/${commit}`, {
      ...{ state, context: 'gslbd', description: verdict.slice(0, 140) },
      ...(detailsUrl === '' ? {} : { target_url: detailsUrl }),
    }),
  find: (call, { repository, commit }, head) => {
    const path = `/repos/${repository}/pulls?state=open&head=${encodeURIComponent(head)}`
    return findRequest(call, path, commit, { sha: ['head', 'sha'], number: 'number' })
  },
}
