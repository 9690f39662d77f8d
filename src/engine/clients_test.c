#include "engine/clients.h"

#include "tests/test.h"

MX_TEST(a_newcomer_begins_where_the_others_are)
{
    mx_error err;
    mx_clients c;
    MX_CHECK_OK(mx_clients_init(&c, 3, &err), &err);
    const int32_t a = mx_clients_enter(&c, 100);
    MX_CHECK_I64(mx_clients_enter(&c, 100), a);
    c.rows[a].clock = 1000;
    const int32_t b = mx_clients_enter(&c, 200);
    MX_CHECK(a != b);
    MX_CHECK_I64(c.rows[b].clock, 1000);
    mx_clients_deinit(&c);
}

MX_TEST(leaving_and_coming_back_forgets_no_debt)
{
    mx_error err;
    mx_clients c;
    MX_CHECK_OK(mx_clients_init(&c, 3, &err), &err);
    const int32_t a = mx_clients_enter(&c, 100);
    const int32_t b = mx_clients_enter(&c, 200);
    c.rows[a].clock = 5000;
    c.rows[b].clock = 10;
    mx_clients_leave(&c, a);
    MX_CHECK_I64(mx_clients_enter(&c, 100), a);
    MX_CHECK_I64(c.rows[a].clock, 5000);
    mx_clients_leave(&c, a);
    c.rows[b].clock = 9000; /* meanwhile b has had more */
    MX_CHECK_I64(mx_clients_enter(&c, 100), a);
    MX_CHECK_I64(c.rows[a].clock, 9000);
    mx_clients_deinit(&c);
}

MX_TEST(rows_of_those_who_left_are_used_again)
{
    mx_error err;
    mx_clients c;
    MX_CHECK_OK(mx_clients_init(&c, 2, &err), &err);
    const int32_t b = mx_clients_enter(&c, 1);
    for (uint64_t id = 2; id < 50; id++) {
        const int32_t i = mx_clients_enter(&c, id);
        MX_CHECK(i != b && c.rows[i].id == id);
        mx_clients_leave(&c, i);
    }
    mx_clients_deinit(&c);
}

MX_TEST_MAIN(MX_CASE(a_newcomer_begins_where_the_others_are), MX_CASE(leaving_and_coming_back_forgets_no_debt),
             MX_CASE(rows_of_those_who_left_are_used_again))
