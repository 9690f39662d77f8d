# The third-party sources that mlxcel is built from: what, which version, where to get it, and what it must hash to.
#
# One row a library: name, folder inside the archive, and then one line for each place that has it:
#   debian|<suite>|<source package[=exact version]>|<file>|<sha256>     Debian's source archive, fetched by apt
#   url|<address>|<file>|<sha256>                                       the project's own release
# Places are tried in this order; the archives of one library may differ (another compression), their sources do not.
# Changing anything here changes the name of the folder that the libraries are installed in, so they are built anew.

set(MX_DEPS yyjson utf8proc pcre2 mbedtls curl)

set(MX_DEP_yyjson_version 0.10.0)
set(MX_DEP_yyjson_places
    "debian|trixie|yyjson|yyjson_0.10.0+ds.orig.tar.xz|ae6fde69a193e10afab426ef13f113d6903446405f9db9ee98bfb572bd6c961a"
    "url|https://github.com/ibireme/yyjson/archive/refs/tags/0.10.0.tar.gz|yyjson-0.10.0.tar.gz|0d901cb2c45c5586e3f3a4245e58c2252d6b24bf4b402723f6179523d389b165")

set(MX_DEP_utf8proc_version 2.8.0)
set(MX_DEP_utf8proc_places
    "debian|bookworm|utf8proc=2.8.0-1|utf8proc_2.8.0.orig.tar.gz|a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc"
    "url|https://github.com/JuliaStrings/utf8proc/archive/v2.8.0.tar.gz|utf8proc-2.8.0.tar.gz|a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc")

set(MX_DEP_pcre2_version 10.46)
set(MX_DEP_pcre2_places
    "debian|trixie|pcre2|pcre2_10.46.orig.tar.gz|8d28d7f2c3b970c3a4bf3776bcbb5adfc923183ce74bc8df1ebaad8c1985bd07"
    "url|https://github.com/PCRE2Project/pcre2/releases/download/pcre2-10.46/pcre2-10.46.tar.gz|pcre2-10.46.tar.gz|8d28d7f2c3b970c3a4bf3776bcbb5adfc923183ce74bc8df1ebaad8c1985bd07")

# Not used on Windows, whose own TLS (Schannel) is; fetched there too, so that one cache folder serves every target.
set(MX_DEP_mbedtls_version 3.6.6)
set(MX_DEP_mbedtls_places
    "debian|trixie|mbedtls|mbedtls_3.6.6.orig.tar.bz2|8fb65fae8dcae5840f793c0a334860a411f884cc537ea290ce1c52bb64ca007a"
    "url|https://github.com/Mbed-TLS/mbedtls/releases/download/mbedtls-3.6.6/mbedtls-3.6.6.tar.bz2|mbedtls_3.6.6.orig.tar.bz2|8fb65fae8dcae5840f793c0a334860a411f884cc537ea290ce1c52bb64ca007a")

set(MX_DEP_curl_version 8.14.1)
set(MX_DEP_curl_places
    "debian|trixie|curl|curl_8.14.1.orig.tar.gz|6766ada7101d292b42b8b15681120acd68effa4a9660935853cf6d61f0d984d4"
    "url|https://curl.se/download/curl-8.14.1.tar.gz|curl_8.14.1.orig.tar.gz|6766ada7101d292b42b8b15681120acd68effa4a9660935853cf6d61f0d984d4")
